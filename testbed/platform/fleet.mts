import { z } from 'zod/v4';

const time = z.string().regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);

const named = {
	id: z.string(),
	name: z.string(),
	description: z.string(),
	creator: z.string(),
	createTime: time,
	updateTime: time.nullable(),
};

/** A model record, section 2.2. */
const modelSchema = z.strictObject({ ...named, vendor: z.string(), type: z.int(), updator: z.string() });

/** A group record, section 2.3. */
const groupSchema = z.strictObject({ ...named, updator: z.string().nullable() });

/** A device record, section 2.1: exactly its 18 fields. */
export const deviceSchema = z.strictObject({
	id: z.string(),
	sn: z.string(),
	imei: z.string().nullable(),
	iccid: z.string(),
	iccidOverwrite: z.int(),
	sensorSn: z.string(),
	sensorOverwrite: z.int(),
	onlineStatus: z.int(),
	status: z.int(),
	attributes: z.record(z.string(), z.json()),
	tags: z.array(z.string()),
	description: z.string().nullable(),
	creator: z.string(),
	createTime: time,
	updator: z.string().nullable(),
	updateTime: time.nullable(),
	model: modelSchema,
	group: groupSchema,
});

type Model = z.infer<typeof modelSchema>;
type Group = z.infer<typeof groupSchema>;
export type Device = Readonly<z.infer<typeof deviceSchema>>;

/**
 * The devices of a platform, in the order in which it lists them when no `sort` is given: newest first.
 *
 * Device records are frozen: change one by `update`, which replaces it, so that the cached JSON is never stale.
 */
export class Fleet {
	#devices: readonly Device[];
	readonly models: readonly Model[] = models;
	readonly #seed: number;
	/** The number of the next new device. */
	#next: number;

	/** A fleet of the given devices, in the given order. Throws on a serial number that occurs twice. */
	constructor(devices: readonly Device[], { seed = 1, next = 0 } = {}) {
		if (new Set(devices.map(({ sn }) => sn)).size < devices.length)
			throw new Error('Two devices have one serial number');
		this.#devices = devices.map((device) => Object.freeze(device));
		this.#seed = seed;
		this.#next = next;
	}

	/** A fleet of `size` devices; the same size and seed give the same devices. */
	static seeded({ size, seed = 1 }: { size: number; seed?: number }): Fleet {
		const devices = Array.from({ length: size }, (_, position) => deviceOf(seed, size - 1 - position));
		return new Fleet(devices, { seed, next: size });
	}

	/** All devices in the default order. Each change of the fleet makes a new array. */
	get devices(): readonly Device[] {
		return this.#devices;
	}

	get size(): number {
		return this.#devices.length;
	}

	/** The device with this serial number, or undefined. */
	get(sn: string): Device | undefined {
		return this.#devices.find((device) => device.sn === sn);
	}

	/** The device at a position of the default order. Throws if there is none. */
	at(position: number): Device {
		const device = this.#devices[position];
		if (device === undefined) throw new Error(`No device at position ${position}`);
		return device;
	}

	/** Returns another realistic device, newer than all before. It is not in the fleet yet. */
	make(changes: Partial<Device> = {}): Device {
		let device = deviceOf(this.#seed, this.#next++);
		while (this.get(device.sn) !== undefined) device = deviceOf(this.#seed, this.#next++);
		return { ...device, ...changes };
	}

	/** Adds a device at a position of the default order; default: 0, as the newest. Throws if the serial number is taken. */
	add(device: Device = this.make(), position = 0): Device {
		return this.#put({ ...device }, position, this.#devices);
	}

	/** Removes a device. Throws if none has this serial number. */
	remove(sn: string): Device {
		const device = this.at(this.#positionOf(sn));
		this.#devices = this.#devices.filter((other) => other !== device);
		return device;
	}

	/** Replaces fields of a device, which keeps its position. Throws if it doesn't exist or the new serial number is taken. */
	update(sn: string, changes: Partial<Device>): Device {
		const position = this.#positionOf(sn);
		return this.#put({ ...this.at(position), ...changes }, position, this.#devices.toSpliced(position, 1));
	}

	/** Moves a device to another position of the default order. */
	move(sn: string, position: number): void {
		this.add(this.remove(sn), position);
	}

	/** Changes the default order: `arrange` gets a copy and returns the same devices in the new order. */
	reorder(arrange: (devices: Device[]) => Device[]): void {
		this.#devices = arrange([...this.#devices]);
	}

	#put(device: Device, position: number, others: readonly Device[]): Device {
		if (others.some(({ sn }) => sn === device.sn)) throw new Error(`Two devices have the serial number ${device.sn}`);
		this.#devices = others.toSpliced(position, 0, Object.freeze(device));
		return device;
	}

	#positionOf(sn: string): number {
		const position = this.#devices.findIndex((device) => device.sn === sn);
		if (position === -1) throw new Error(`No device has the serial number ${sn}`);
		return position;
	}
}

/** Returns a time as `YYYY-MM-DD HH:MM:SS`. The document names no time zone; this platform uses UTC. */
export function timeText(milliseconds: number): string {
	return new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}

/** A seeded source of numbers in [0, 1): mulberry32. Small and fast; good enough for sample data. */
function mulberry32(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	};
}

/** Name, type (1 router, 2 tracker, 3 logger), manufacturer, description. */
const models: readonly Model[] = (
	[
		['R200', 1, 'Northwind Devices', 'LTE router for cabinets and kiosks'],
		['R310', 1, 'Northwind Devices', 'Dual-SIM router with Wi-Fi'],
		['R500-5G', 1, '青空テレマティクス', '5G router, rail mount'],
		['T10', 2, 'Lumen Field', 'Vehicle tracker, wired'],
		['T22', 2, 'Lumen Field', 'Asset tracker, battery for five years'],
		['T30 Cold', 2, '青空テレマティクス', ''],
		['L5', 3, 'Équipements Nord', 'Temperature and humidity logger'],
		['L8', 3, 'Équipements Nord', 'Logger für Schaltschränke'],
	] as const
).map(([name, type, vendor, description], position) => ({
	id: String(1_740_000_000_000_000_100n + BigInt(position)),
	name,
	vendor,
	type,
	description,
	creator: 'admin',
	createTime: timeText(Date.UTC(2022, position, 3, 8, 15)),
	updator: position % 3 === 0 ? 'admin' : '',
	updateTime: position % 3 === 0 ? timeText(Date.UTC(2023, position, 9, 14, 2, 11)) : null,
}));

/** Name, description, and where the devices are. The devices of other groups are anywhere. */
const groupRows: ReadonlyArray<readonly [name: string, description: string, place?: string]> = [
	['Default', ''],
	['Warehouse Hamburg', 'Loading bays 1 to 14', 'Hamburg'],
	['Łódź – magazyn', 'Czujniki temperatury', 'Łódź'],
	['東京支店', '品川区の倉庫', '東京'],
	['Склад №7', '', 'Санкт-Петербург'],
	['Field service', 'Vans of the field service, all regions'],
	['مستودع دبي', 'الطابق الأول', 'دبي'],
	['Pilot customers', ''],
];
const placeOfGroup = new Map(groupRows.map(([name, , place]) => [name, place]));

const groups: readonly Group[] = groupRows.map(([name, description], position) => ({
	id: String(1_740_000_000_000_000_500n + BigInt(position)),
	name,
	description,
	creator: position === 0 ? 'admin' : 'k.lindqvist',
	createTime: timeText(Date.UTC(2022, position, 11, 7, 45, 30)),
	updator: position % 2 === 0 ? null : 'admin',
	updateTime: position % 2 === 0 ? null : timeText(Date.UTC(2024, position, 2, 16, 20)),
}));

const people = ['admin', 'k.lindqvist', 'm.okafor', '山田', 'import'] as const;
const places = ['Hamburg', 'München', 'Łódź', '東京', 'Санкт-Петербург', 'São Paulo', 'دبي'] as const;
const tagNames = ['indoor', 'outdoor', 'cold chain', 'pilot', 'vip', 'склад', '冷蔵', 'réserve'] as const;
const descriptions = [
	'Behind the door of hall 3',
	'Spare unit, kept in the workshop',
	'Kühlraum 2, Regal B',
	'冷蔵倉庫の入口 🚚',
	'Quote "A", comma, slash / and back\\slash',
] as const;
const serialPrefixes = { 1: 'RT', 2: 'TK', 3: 'LG' } as const;

const firstCreated = Date.UTC(2024, 0, 8, 6, 0, 0);
const serialNumbers = 100_000_000;

/** Devices made so far, by seed and number: most fleets of tests begin with the same ones. */
const made = new Map<string, Device>();

/** Returns device number 0, 1, 2 …; each depends only on the seed and its number. */
function deviceOf(seed: number, number: number): Device {
	const key = `${seed}/${number}`;
	const device = made.get(key) ?? Object.freeze(makeDevice(seed, number));
	// No more than the devices of the usual fleets.
	if (number < 5000) made.set(key, device);
	return device;
}

/** Returns the item at a share of a list, from 0 to 1. */
function at<Item>(items: readonly Item[], share: number): Item {
	const item = items[Math.floor(share * items.length)];
	if (item === undefined) throw new Error('An empty list has no items');
	return item;
}

/** The order of the calls of `random` decides the devices, which the pictures of the docs show. */
function makeDevice(seed: number, number: number): Device {
	const random = mulberry32(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
	const digits = (count: number) => String(Math.floor(random() * 10 ** count)).padStart(count, '0');

	const model = at(models, random());
	const group = at(groups, random() * random());
	const kind = model.type === 1 ? 1 : model.type === 2 ? 2 : 3;
	const hasSim = kind !== 3;
	const suspended = random() < 0.03;
	const online = !suspended && random() < 0.7;
	// Four devices in a row have the same second, as after an import, so that a sort by createTime has equal values.
	const created = firstCreated + Math.floor(number / 4) * 331_000;
	const changed = random() < 0.4;
	// The factor is prime to the modulus, so that no serial number occurs twice and neighbors look unrelated.
	const serial = (number * 61_803_399 + (seed % serialNumbers) * 7 + 10_000_019) % serialNumbers;

	return {
		id: String(1_741_900_000_000_000_000n + BigInt(seed >>> 0) * 10_000_000_000n + BigInt(number)),
		sn: `${serialPrefixes[kind]}${serial.toString().padStart(8, '0')}`,
		imei: hasSim && random() < 0.95 ? `354762${digits(8)}0` : null,
		iccid: hasSim ? `8949${digits(8)}${digits(7)}` : '',
		iccidOverwrite: random() < 0.1 ? 1 : 0,
		sensorSn: kind === 1 ? '' : `S${digits(7)}`,
		sensorOverwrite: kind !== 1 && random() < 0.1 ? 1 : 0,
		onlineStatus: online ? 1 : 0,
		status: suspended ? 0 : online ? 2 : random() < 0.2 ? 3 : 1,
		attributes: Object.freeze(makeAttributes(kind, group, random)),
		tags: random() < 0.4 ? [] : [...new Set([at(tagNames, random()), at(tagNames, random())])],
		description: random() < 0.5 ? null : random() < 0.1 ? '' : at(descriptions, random()),
		creator: at(people, random()),
		createTime: timeText(created),
		updator: changed ? at(people, random()) : null,
		updateTime: changed ? timeText(created + 3_600_000 + Math.floor(random() * 86_400_000 * 20)) : null,
		model,
		group,
	};
}

function makeAttributes(kind: 1 | 2 | 3, group: Group, random: () => number): Device['attributes'] {
	if (random() < 0.15) return {};
	const place = () => {
		// The next values stay the same whether the group decides or not.
		const any = at(places, random());
		return placeOfGroup.get(group.name) ?? any;
	};
	const attributes: Device['attributes'] = { site: place(), floor: Math.floor(random() * 12) - 1 };
	if (kind === 1) {
		const whole = (count: number) => Math.floor(random() * count);
		attributes['firmware'] = `${1 + whole(3)}.${whole(20)}.${whole(9)}`;
		attributes['ports'] = at([2, 4, 8], random());
	} else if (kind === 2) {
		attributes['battery'] = Math.floor(random() * 101);
		attributes['moving'] = random() < 0.3;
		attributes['position'] = { lat: Math.round(random() * 9e6) / 1e5, lon: Math.round(random() * 18e6) / 1e5 };
	} else {
		attributes['temperature.max'] = Math.round(random() * 400) / 10;
		attributes['расположение'] = place();
		if (random() < 0.3) attributes['calibrated'] = null;
	}
	return attributes;
}
