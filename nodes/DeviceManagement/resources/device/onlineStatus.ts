/**
 * Checks the devices that the platform listed for the filter 'Online Status' (section 1.4 of the API document), because a platform may
 * ignore a filter or compare it as something else. It can't find out that a platform leaves out only some devices.
 */
import { Failure } from '../../core/failure';
import type { JsonValue } from '../../core/json';
import { fetchFirstPage } from '../../core/paging/walk';
import { type PagedEndpoint, pageSource } from '../../transport/pagedList';
import type { Item } from '../operation';

interface WithStatus {
	readonly onlineStatus?: JsonValue;
}

/**
 * Returns the devices that have the number. With 'Return All' and without 'Skip', a hint says how many others the platform listed.
 * @param endpoint the list with this filter
 * @throws Failure `response` if no device has the field, if others came with 'Limit' or after 'Skip', or if the platform listed none but has some
 */
export async function keepFitting<T extends WithStatus>(
	listed: readonly T[],
	wanted: number,
	endpoint: PagedEndpoint,
	{ platform, hint, read, settings }: Item,
): Promise<readonly T[]> {
	const fits = ({ onlineStatus }: WithStatus) => meansNumber(onlineStatus, wanted);
	const isPart = Number(settings.options['skip'] ?? 0) > 0;
	if (listed.length === 0 && !isPart) {
		const query = { ...endpoint.query };
		delete query['onlineStatus'];
		const { page } = await fetchFirstPage(pageSource(platform, { ...endpoint, query }, settings), settings);
		refuseWithoutField(page.content);
		if (!page.content.some(fits)) return listed;
		throw refused(`The platform returned no device for onlineStatus ${wanted}, but has some`, USE_FILTER_NODE);
	}
	refuseWithoutField(listed);
	const fitting = listed.filter(fits);
	const others = listed.length - fitting.length;
	if (others === 0) return listed;
	const share = `${inWords(others)} of ${inWords(listed.length)} devices`;
	// 'Skip' counted the other devices, too, so the part would begin at another device.
	if (isPart || read('returnAll') !== true) {
		throw refused(`${share} that the platform returned have another onlineStatus than ${wanted}`, RETURN_ALL);
	}
	hint(`The platform ignored the filter 'Online Status' for ${share}. The node left them out.`);
	return fitting;
}

const USE_FILTER_NODE = "Remove the filter 'Online Status', and put n8n's Filter node behind this node.";
const RETURN_ALL = "Turn on 'Return All', and leave out 'Skip'. The node then leaves out such devices.";

/** Whether a value is the number, also as text, or as true for 1 and false for 0. */
function meansNumber(value: JsonValue | undefined, wanted: number): boolean {
	return value === wanted || value === String(wanted) || (typeof value === 'boolean' && Number(value) === wanted);
}

function refuseWithoutField(devices: readonly WithStatus[]): void {
	if (devices.length === 0 || devices.some(({ onlineStatus }) => onlineStatus !== undefined)) return;
	throw refused('The platform sends no onlineStatus', "Remove the filter 'Online Status'.");
}

function refused(message: string, remedy: string): Failure {
	return new Failure({ kind: 'response', cause: 'platform', message, remedy });
}

const inWords = (count: number) => count.toLocaleString('en-US');
