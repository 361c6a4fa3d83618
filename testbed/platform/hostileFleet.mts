/** Devices with what breaks spreadsheets, mails, tickets, chats and types. A platform may send all of it. */
import { type Device, Fleet } from './fleet.mts';

/** For names, descriptions, tags and attributes. */
export const HOSTILE_TEXTS: readonly string[] = [
	'=HYPERLINK("http://example.com","Open")',
	`=cmd|' /C calc'!A0`,
	'+1+1',
	'-1+1',
	'@SUM(1)',
	'<img src=x onerror=alert(1)> <b>&amp; "quoted" \'text\'</b>',
	'</table><!-- <script>alert(1)</script>',
	'**bold** _italic_ `code` [link](http://example.com) | # @everyone <@U1> #1',
	'```\n# heading\n```',
	'first line\nsecond line\r\nthird\tline',
	'x'.repeat(255),
	'🚚 👩‍👩‍👧‍👦 مستودع 東京 Ł',
	'{{ $json.sn }} $& \\ %s',
	'__proto__',
	' ',
	'',
];

/** Serial numbers that spreadsheets change, and the device that two of them would become. */
export const HOSTILE_SERIALS: readonly string[] = ['00123', '123', '1E5', '1234567890123456789', '007', '-7'];

/** Fields as some platforms send them. Undefined: the field is missing. */
const HOSTILE_FIELDS: ReadonlyArray<Record<string, unknown>> = [
	...[0, 1, '0', '1', 'offline', true, false, null, undefined].map((value) => ({ onlineStatus: value, status: value })),
	{ group: null },
	{ group: undefined },
	{ group: {} },
	{ id: 4711 },
	{ tags: null, attributes: null, description: undefined },
	{ tags: 'one tag' },
];

type NamedFleet = readonly [name: string, fleet: Fleet];

/** The fleets that each example is run with, by what they are. Each call makes new ones. */
export function hostileFleets(): readonly [hostile: NamedFleet, ...NamedFleet[]] {
	const changes = [
		...HOSTILE_TEXTS.map((text) => ({
			description: text,
			tags: [text, text],
			attributes: { site: text, offlineSince: text },
			text,
		})),
		...HOSTILE_SERIALS.map((sn) => ({ sn })),
		...HOSTILE_FIELDS,
	];
	const plain = Fleet.seeded({ size: changes.length, seed: 9 }).devices;
	const devices = changes.map(({ text, ...change }: Record<string, unknown>, at) => {
		const { group, model, ...device } = plain[at] as Device;
		const named =
			text === undefined ? { group, model } : { group: { ...group, name: text }, model: { ...model, name: text } };
		// Other types than the document's.
		return { ...device, ...named, ...change } as Device;
	});
	return [
		['a hostile fleet', new Fleet(devices)],
		['no device', new Fleet([])],
		['400 devices at once', Fleet.seeded({ size: 400, seed: 9 })],
	];
}
