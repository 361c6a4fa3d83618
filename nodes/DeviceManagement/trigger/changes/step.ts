/**
 * What a poll makes of one device: from what is remembered of it and its record now, the events and what to remember next. It
 * doesn't know other devices, the platform or n8n.
 */
import type { Device } from '../../core/device';
import type { OwnFilters } from '../../core/ownFilters';
import { type Change, changedEvent, createdEvent, type DeviceEvent } from './events';
import { asksForState, bridgeGap, type ChangeRule, isAlike, isAskedFor, isGap, leadsToRule } from './rules';
import { isDate, isOlder, type Kept, keepValue } from './values';
import { type EventName, isUpdateTime, type WatchedField } from './watched';

export interface Entry {
	/** By field: the value that the next poll compares with. A state that is still to be reported has none. */
	readonly values: Readonly<Record<string, Kept>>;
	/** By field: a new value that has not lasted long enough, and when it was first seen. */
	readonly waiting?: Readonly<Record<string, Waiting>> | undefined;
	/** The device doesn't match the node's own filters: it left them, or was never in. */
	readonly outside?: 'left' | 'never in';
	/** Since when a complete list lacks the device, when to request it next, and the newest date of a device at that time. */
	readonly away?: { readonly since: number; readonly next: number; readonly newest: string };
}

interface Waiting {
	readonly value: Kept;
	readonly since: number;
}

/** All times are of this machine's clock, in seconds. */
export interface StepOptions {
	readonly events: ReadonlySet<EventName>;
	readonly fields: readonly WatchedField[];
	readonly rules: readonly ChangeRule[];
	readonly own: OwnFilters | undefined;
	readonly holdSeconds: number;
	readonly now: number;
	readonly number: number;
	/** The oldest date of a new device; undefined in a baseline, which has none. */
	readonly since: string | undefined;
	/** Whether this is the first list with devices: it is only recorded, unless states are reported. */
	readonly isFirstList: boolean;
	readonly reportsFirst: boolean;
	/** Whether this is the first poll of a process: without durable cursors, n8n has lost what quiet polls saw. */
	readonly isFirstOfProcess: boolean;
}

export interface Step {
	readonly entry: Entry;
	readonly events: readonly DeviceEvent[];
}

const NO_EVENTS: readonly DeviceEvent[] = [];

/**
 * Compares a device with what is remembered of it.
 * @param before undefined if the device isn't remembered: its values are then recorded, and only states are reported
 * @param isInside whether the device matches the node's own filters. What is remembered of one outside stays as it is. Only the fields of
 * these filters are watched on: the change that makes it leave is reported, and later ones are recorded
 */
export function step(before: Entry | undefined, device: Device, isInside: boolean, options: StepOptions): Step {
	const { fields, own, number, rules } = options;
	const wasInside = before !== undefined && before.outside === undefined;
	const isNew = isInside && isCreated(before, device, options);
	const known = isNew ? undefined : before;
	const compared = fields.filter(({ name }) => isInside || Object.hasOwn({ ...own }, name));
	const changes = compared.map((field): Change => {
		const previous = known?.values[field.name];
		const last = known?.waiting?.[field.name]?.value ?? previous;
		return { field, previous, current: bridgeGap(rules, field.name, keepValue(field, device), last) };
	});
	const isSettled = known !== undefined && known.waiting === undefined && known.away === undefined;
	if (isSettled && wasInside === isInside && changes.every(isIdentical)) return { entry: known, events: NO_EVENTS };
	const events = isNew ? [createdEvent(device)] : [];
	const values = { ...known?.values };
	const waiting: Record<string, Waiting> = {};
	for (const change of changes) {
		const { field, current } = change;
		const decision = isInside || wasInside ? decide(change, known?.waiting?.[field.name], options) : 'record';
		if (typeof decision === 'object') waiting[field.name] = decision;
		else if (decision !== 'keep') values[field.name] = current;
		// A device that is reported as created isn't also reported as edited.
		const isCovered = isNew && isUpdateTime(field);
		if (decision === 'report' && !isCovered) events.push(changedEvent(device, change, number));
	}
	const isWaiting = Object.keys(waiting).length > 0;
	// Until its departure has lasted, a device is still inside.
	const outside = isInside || isWaiting ? undefined : wasInside ? 'left' : (before?.outside ?? 'never in');
	return { entry: { values, ...(isWaiting && { waiting }), ...(outside && { outside }) }, events };
}

/**
 * Whether a device is new: it never matched before, or it was missing and is dated since then. One that never matched may be older, and
 * match the filters or be visible to the user only now. If its date says nothing, it is new.
 */
function isCreated(before: Entry | undefined, { createTime }: Device, { events, since }: StepOptions): boolean {
	if (since === undefined || !events.has('deviceCreated')) return false;
	if (before === undefined || before.outside === 'never in') return !isOlder(createTime, since);
	return before.away !== undefined && isDate(createTime) && createTime > before.away.newest;
}

type Decision = 'record' | 'report' | 'keep' | Waiting;

/** Decides what becomes of a value: it is recorded, reported and recorded, or waits; or what is remembered is kept. */
function decide(change: Change, before: Waiting | undefined, options: StepOptions): Decision {
	const { field, previous, current } = change;
	const { rules, now, since, holdSeconds, isFirstList, reportsFirst, isFirstOfProcess } = options;
	// Neither the wait for a number nor the number ends while there is none.
	if (isGap(current) && before && isAlike(rules, field.name, before.value, current)) return before;
	if (isGap(current) && previous !== undefined && isAlike(rules, field.name, previous, current)) return 'keep';
	if (previous === undefined) {
		// A device that isn't remembered is reported for its state, or for an edit, which may have made it match the filters.
		const isEdit = isUpdateTime(field) && since !== undefined && current !== null && !isOlder(current, since);
		if (isEdit) return 'report';
		if ((isFirstList && !reportsFirst) || !asksForState(rules, field.name, current)) return 'record';
	} else if (isAlike(rules, field.name, previous, current)) return 'record';
	// If the clock was set back, the wait must not become longer.
	const seen = before && isAlike(rules, field.name, before.value, current) ? Math.min(before.since, now) : now;
	// A device that came back in a quiet poll must not have to last again before it can go offline again.
	const isRecovery = isFirstOfProcess && leadsToRule(rules, change);
	const mustLast = isUpdateTime(field) || isRecovery ? 0 : holdSeconds;
	if (now - seen < mustLast) return { value: current, since: seen };
	return isAskedFor(rules, change) ? 'report' : 'record';
}

/** Whether a value is remembered as it is: a value in another form, and a group with another name, are no change, but recorded. */
function isIdentical({ previous, current }: Change): boolean {
	return previous === current || (typeof current === 'object' && JSON.stringify(previous) === JSON.stringify(current));
}
