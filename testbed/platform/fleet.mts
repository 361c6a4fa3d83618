import { z } from 'zod/v4';

const time = z.string().regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);

/** A model record, section 2.2. */
export const modelSchema = z.strictObject({
	id: z.string(),
	name: z.string(),
	vendor: z.string(),
	type: z.int(),
	description: z.string(),
	creator: z.string(),
	createTime: time,
	updator: z.string(),
	updateTime: time.nullable(),
});

/** A group record, section 2.3. */
export const groupSchema = z.strictObject({
	id: z.string(),
	name: z.string(),
	description: z.string(),
	creator: z.string(),
	createTime: time,
	updator: z.string().nullable(),
	updateTime: time.nullable(),
});

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
	#devices: Device[];
	readonly #bySn = new Map<string, Device>();
	readonly #maker: DeviceMaker;
	#version = 0;

	/** A fleet of the given devices, in the given order. Throws on a serial number that occurs twice. */
	constructor(devices: readonly Device[], maker = new DeviceMaker(1, 0)) {
		this.#devices = devices.map((device) => Object.freeze(device));
		this.#maker = maker;
		for (const device of this.#devices) {
			if (this.#bySn.has(device.sn)) throw new Error(`Two devices have the serial number ${device.sn}`);
			this.#bySn.set(device.sn, device);
		}
	}

	/** A fleet of `size` devices; the same size and seed give the same devices. */
	static seeded({ size, seed = 1 }: { size: number; seed?: number }): Fleet {
		const maker = new DeviceMaker(seed, size);
		return new Fleet(
			Array.from({ length: size }, (_, position) => maker.device(size - 1 - position)),
			maker,
		);
	}

	/** All devices in the default order. */
	get devices(): readonly Device[] {
		return this.#devices;
	}

	get size(): number {
		return this.#devices.length;
	}

	/** Grows by every change; two equal versions mean the same devices in the same order. */
	get version(): number {
		return this.#version;
	}

	get models(): readonly Model[] {
		return models;
	}

	/** The device with this serial number, or undefined. */
	get(sn: string): Device | undefined {
		return this.#bySn.get(sn);
	}

	/** The device at a position of the default order. Throws if there is none. */
	at(position: number): Device {
		const device = this.#devices[position];
		if (device === undefined) throw new Error(`No device at position ${position}`);
		return device;
	}

	/** Returns another realistic device, newer than all before. It is not in the fleet yet. */
	make(changes: Partial<Device> = {}): Device {
		let device = this.#maker.next();
		while (this.#bySn.has(device.sn)) device = this.#maker.next();
		return { ...device, ...changes };
	}

	/** Adds a device at a position of the default order; default: 0, as the newest. Throws if the serial number is taken. */
	add(device: Device = this.make(), position = 0): Device {
		if (this.#bySn.has(device.sn)) throw new Error(`Two devices have the serial number ${device.sn}`);
		const added = Object.freeze({ ...device });
		this.#devices.splice(position, 0, added);
		this.#bySn.set(added.sn, added);
		this.#version++;
		return added;
	}

	/** Removes a device. Throws if none has this serial number. */
	remove(sn: string): Device {
		const device = this.#existing(sn);
		this.#devices.splice(this.#devices.indexOf(device), 1);
		this.#bySn.delete(sn);
		this.#version++;
		return device;
	}

	/** Replaces fields of a device, which keeps its position. Throws if it doesn't exist or the new serial number is taken. */
	update(sn: string, changes: Partial<Device>): Device {
		const device = this.#existing(sn);
		const updated: Device = Object.freeze({ ...device, ...changes });
		if (updated.sn !== sn && this.#bySn.has(updated.sn)) {
			throw new Error(`Two devices have the serial number ${updated.sn}`);
		}
		this.#devices[this.#devices.indexOf(device)] = updated;
		this.#bySn.delete(sn);
		this.#bySn.set(updated.sn, updated);
		this.#version++;
		return updated;
	}

	/** Moves a device to another position of the default order. */
	move(sn: string, position: number): void {
		const device = this.#existing(sn);
		this.#devices.splice(this.#devices.indexOf(device), 1);
		this.#devices.splice(position, 0, device);
		this.#version++;
	}

	/** Changes the default order: `arrange` gets a copy and returns the same devices in the new order. */
	reorder(arrange: (devices: Device[]) => Device[]): void {
		const arranged = arrange([...this.#devices]);
		const isSame = arranged.length === this.size && this.#devices.every((device) => arranged.includes(device));
		if (!isSame) throw new Error('A new order must hold the same devices');
		this.#devices = arranged;
		this.#version++;
	}

	/** Returns the JSON of a device of this fleet; computed once per record. */
	bytes(device: Device): Buffer {
		let bytes = bytesOf.get(device);
		if (bytes === undefined) {
			bytes = Buffer.from(JSON.stringify(device));
			bytesOf.set(device, bytes);
		}
		return bytes;
	}

	/** Computes the JSON of every device now, so that a benchmark does not measure it: half a second for 100,000. */
	warm(): void {
		for (const device of this.#devices) this.bytes(device);
	}

	#existing(sn: string): Device {
		const device = this.#bySn.get(sn);
		if (device === undefined) throw new Error(`No device has the serial number ${sn}`);
		return device;
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

const manufacturers = ['Northwind Devices', 'Lumen Field', 'Équipements Nord', '青空テレマティクス'] as const;

const models: readonly Model[] = (
	[
		['R200', 'router', 0, 'LTE router for cabinets and kiosks'],
		['R310', 'router', 0, 'Dual-SIM router with Wi-Fi'],
		['R500-5G', 'router', 3, '5G router, rail mount'],
		['T10', 'tracker', 1, 'Vehicle tracker, wired'],
		['T22', 'tracker', 1, 'Asset tracker, battery for five years'],
		['T30 Cold', 'tracker', 3, ''],
		['L5', 'logger', 2, 'Temperature and humidity logger'],
		['L8', 'logger', 2, 'Logger für Schaltschränke'],
	] as const
).map(([name, kind, maker, description], position) => ({
	id: String(1_740_000_000_000_000_100n + BigInt(position)),
	name,
	vendor: manufacturers[maker],
	type: kind === 'router' ? 1 : kind === 'tracker' ? 2 : 3,
	description,
	creator: 'admin',
	createTime: timeText(Date.UTC(2022, position, 3, 8, 15)),
	updator: position % 3 === 0 ? 'admin' : '',
	updateTime: position % 3 === 0 ? timeText(Date.UTC(2023, position, 9, 14, 2, 11)) : null,
}));

const groups: readonly Group[] = (
	[
		['Default', ''],
		['Warehouse Hamburg', 'Loading bays 1 to 14'],
		['Łódź – magazyn', 'Czujniki temperatury'],
		['東京支店', '品川区の倉庫'],
		['Склад №7', ''],
		['Field service', 'Vans of the field service, all regions'],
		['مستودع دبي', 'الطابق الأول'],
		['Pilot customers', ''],
	] as const
).map(([name, description], position) => ({
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
/** Where the devices of a group are. The devices of other groups are anywhere. */
const placeOfGroup: Readonly<Record<string, (typeof places)[number]>> = {
	'Warehouse Hamburg': 'Hamburg',
	'Łódź – magazyn': 'Łódź',
	東京支店: '東京',
	'Склад №7': 'Санкт-Петербург',
	'مستودع دبي': 'دبي',
};
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

/** The JSON of records, which never change. */
const bytesOf = new WeakMap<Device, Buffer>();

/** Devices made so far, by seed and number: most fleets of tests begin with the same ones. */
const made = new Map<string, Device>();
const MOST_OF_A_FLEET = 5000;
const MOST_MADE = 40_000;

/** Makes device number 0, 1, 2 …; each depends only on the seed and its number. */
class DeviceMaker {
	readonly #seed: number;
	#next: number;

	constructor(seed: number, next: number) {
		this.#seed = seed;
		this.#next = next;
	}

	next(): Device {
		return this.device(this.#next++);
	}

	device(number: number): Device {
		if (number >= MOST_OF_A_FLEET) return this.#make(number);
		const key = `${this.#seed}/${number}`;
		const device = made.get(key) ?? Object.freeze(this.#make(number));
		if (made.size >= MOST_MADE) made.clear();
		made.set(key, device);
		return device;
	}

	#make(number: number): Device {
		const random = mulberry32(Math.imul(this.#seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
		const pick = <Item,>(items: readonly [Item, ...Item[]]): Item =>
			items[Math.floor(random() * items.length)] ?? items[0];
		const digits = (count: number) =>
			Math.floor(random() * 10 ** count)
				.toString()
				.padStart(count, '0');

		const model = models[Math.floor(random() * models.length)] ?? firstOf(models);
		const group = groups[Math.floor(random() * random() * groups.length)] ?? firstOf(groups);
		const kind = model.type === 1 ? 1 : model.type === 2 ? 2 : 3;
		const hasSim = kind !== 3;
		const suspended = random() < 0.03;
		const online = !suspended && random() < 0.7;
		// Four devices in a row have the same second, as after an import, so that a sort by createTime has equal values.
		const created = firstCreated + Math.floor(number / 4) * 331_000;
		const changed = random() < 0.4;
		// The factor is prime to the modulus, so that no serial number occurs twice and neighbors look unrelated.
		const serial = (number * 61_803_399 + (this.#seed % serialNumbers) * 7 + 10_000_019) % serialNumbers;

		return {
			id: String(1_741_900_000_000_000_000n + BigInt(this.#seed >>> 0) * 10_000_000_000n + BigInt(number)),
			sn: `${serialPrefixes[kind]}${serial.toString().padStart(8, '0')}`,
			imei: hasSim && random() < 0.95 ? imei(digits(8)) : null,
			iccid: hasSim ? `8949${digits(8)}${digits(7)}` : '',
			iccidOverwrite: random() < 0.1 ? 1 : 0,
			sensorSn: kind === 1 ? '' : `S${digits(7)}`,
			sensorOverwrite: kind !== 1 && random() < 0.1 ? 1 : 0,
			onlineStatus: online ? 1 : 0,
			status: suspended ? 0 : online ? 2 : random() < 0.2 ? 3 : 1,
			attributes: Object.freeze(this.#attributes(kind, group, random, pick)),
			tags: random() < 0.4 ? [] : [...new Set([pick(tagNames), pick(tagNames)])],
			description: random() < 0.5 ? null : random() < 0.1 ? '' : pick(descriptions),
			creator: pick(people),
			createTime: timeText(created),
			updator: changed ? pick(people) : null,
			updateTime: changed ? timeText(created + 3_600_000 + Math.floor(random() * 86_400_000 * 20)) : null,
			model,
			group,
		};
	}

	#attributes(
		kind: 1 | 2 | 3,
		group: Group,
		random: () => number,
		pick: <Item>(items: readonly [Item, ...Item[]]) => Item,
	): Device['attributes'] {
		if (random() < 0.15) return {};
		const place = () => {
			// The next values stay the same whether the group decides or not.
			const any = pick(places);
			return placeOfGroup[group.name] ?? any;
		};
		const attributes: Device['attributes'] = { site: place(), floor: Math.floor(random() * 12) - 1 };
		if (kind === 1) {
			attributes['firmware'] =
				`${1 + Math.floor(random() * 3)}.${Math.floor(random() * 20)}.${Math.floor(random() * 9)}`;
			attributes['ports'] = pick([2, 4, 8]);
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
}

/** Returns 15 digits with a valid check digit. */
function imei(middle: string): string {
	const body = `354762${middle}`;
	let sum = 0;
	for (let position = 0; position < 14; position++) {
		const doubled = Number(body[position]) * (position % 2 === 0 ? 1 : 2);
		sum += doubled > 9 ? doubled - 9 : doubled;
	}
	return `${body}${(10 - (sum % 10)) % 10}`;
}

function firstOf<Item>(items: readonly Item[]): Item {
	const [item] = items;
	if (item === undefined) throw new Error('An empty list has no first item');
	return item;
}
