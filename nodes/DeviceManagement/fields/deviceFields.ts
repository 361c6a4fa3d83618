import { DEVICE_FIELDS } from '../core/output';

/** Labels of the device fields, in the order of DEVICE_FIELDS. */
const FIELD_LABELS: Record<(typeof DEVICE_FIELDS)[number], string> = {
	attributes: 'Attributes',
	createTime: 'Create Time',
	creator: 'Creator',
	description: 'Description',
	group: 'Group',
	iccid: 'ICCID',
	iccidOverwrite: 'ICCID Overwrite',
	id: 'ID',
	imei: 'IMEI',
	model: 'Model',
	onlineStatus: 'Online Status',
	sensorOverwrite: 'Sensor Overwrite',
	sensorSn: 'Sensor Serial Number',
	sn: 'Serial Number',
	status: 'Status',
	tags: 'Tags',
	updateTime: 'Update Time',
	updator: 'Updator',
};

/** Order of a list of choices, as the panel shows it. */
export const byLabel = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** Every field of a device, as choices. */
export const fieldOptions = DEVICE_FIELDS.map((field) => ({ name: FIELD_LABELS[field], value: field }));
