import type { Entry } from './step';

/** What a poll stores for the next one. */
export interface State {
	/** A digest of the form, the platform and the user. A poll ignores a state with another one. */
	readonly fingerprint: string;
	/** Rises with every poll that reports something, and with every baseline. */
	readonly number: number;
	/** Devices that were created earlier count as known: see step.ts. Undefined before a baseline. */
	readonly since: string | undefined;
	/** By serial number: each device that was listed and not removed. Equal entries are one object. */
	readonly devices: ReadonlyMap<string, Entry>;
}

const FORMAT = 3;

/** Returns a state as text, which n8n loads sixty times as fast as nested objects. An entry is written once, with all its devices. */
export function encodeState({ devices, ...state }: State): string {
	const texts = new Map<Entry, string>();
	const groups = new Map<string, string[]>();
	for (const [sn, entry] of devices) {
		const text = texts.get(entry) ?? JSON.stringify(entry);
		texts.set(entry, text);
		const group = groups.get(text);
		if (group === undefined) groups.set(text, [sn]);
		else group.push(sn);
	}
	const pairs = Array.from(groups, ([entry, sns]) => `[${entry},${JSON.stringify(sns)}]`);
	return `${JSON.stringify({ format: FORMAT, ...state }).slice(0, -1)},"devices":[${pairs.join(',')}]}`;
}

/** Returns the state of a text; undefined if the text is missing, was cut, or has another format. */
export function decodeState(text: string | undefined): State | undefined {
	try {
		const { format, devices: groups, ...state } = JSON.parse(text ?? '');
		if (format !== FORMAT) return undefined;
		const devices = new Map<string, Entry>();
		for (const [entry, sns] of groups) for (const sn of sns) devices.set(sn, entry);
		return { ...state, devices };
	} catch {
		return undefined;
	}
}
