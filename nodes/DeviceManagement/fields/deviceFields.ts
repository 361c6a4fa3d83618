/** Sorts choices by label. */
export const byLabel = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** All fields of a device (section 2.1 of the API document), as choices. */
export const fieldOptions = [
	{ name: 'Attributes', value: 'attributes' },
	{ name: 'Create Time', value: 'createTime' },
	{ name: 'Creator', value: 'creator' },
	{ name: 'Description', value: 'description' },
	{ name: 'Group', value: 'group' },
	{ name: 'ICCID', value: 'iccid' },
	{ name: 'ICCID Overwrite', value: 'iccidOverwrite' },
	{ name: 'ID', value: 'id' },
	{ name: 'IMEI', value: 'imei' },
	{ name: 'Model', value: 'model' },
	{ name: 'Online Status', value: 'onlineStatus' },
	{ name: 'Sensor Overwrite', value: 'sensorOverwrite' },
	{ name: 'Sensor Serial Number', value: 'sensorSn' },
	{ name: 'Serial Number', value: 'sn' },
	{ name: 'Status', value: 'status' },
	{ name: 'Tags', value: 'tags' },
	{ name: 'Update Time', value: 'updateTime' },
	{ name: 'Updater', value: 'updator' },
];
