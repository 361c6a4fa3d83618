/** The examples that send mails: each mail and chat message is read as its reader's program reads it. A sample is no alarm. */
import assert from 'node:assert/strict';
import { z } from 'zod/v4';

import { exampleWorkflow } from '../../testbed/n8n/examples.mts';
import type { Mail } from '../../testbed/n8n/mailServer.mts';
import { resultOf } from '../../testbed/n8n/results.mts';
import { readPage } from '../../testbed/pages.mts';
import { HOSTILE_TEXTS } from '../../testbed/platform/hostileFleet.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { Example, ExampleSetup, Show } from './exampleSetup.mts';
import { byHand, faulty, monitored, newId, onSchedule, published, simplified, until } from './runs.mts';

const OFFLINE = [0, '0', false];

/** As many devices go offline at once. Each has its status in one of these forms. */
export const changed = (devices: readonly Device[], statuses: readonly unknown[] = OFFLINE) =>
	devices.map((device, at) => ({
		...{ event: 'onlineStatusChanged', field: 'onlineStatus', previous: null, current: statuses[at % statuses.length] },
		...{ device: simplified(device), eventId: '1', detectedAt: '2026-11-01T08:15:00.000Z' },
	}));

/** Runs an example by hand with these events of its trigger. */
async function withEvents({ main, mailServer, workflow }: ExampleSetup, events: readonly object[]) {
	const known = mailServer.mails.length;
	const pinData = { [workflow.nodes[0]?.name ?? '']: events.map((json) => ({ json })) };
	const results = await byHand(main, { ...workflow, pinData });
	return { results, mails: mailServer.mails.slice(known) };
}

/** Fed with these events, an example sends one mail. */
const sends = (subject: string, lines: readonly string[], events: readonly object[]): Show => {
	return async (given) => {
		const { results, mails } = await withEvents(given, events);
		resultOf(results, 'Send mail');
		const sent = mails.map((mail) => [mail.subject, mail.text]);
		assert.deepEqual(sent, [[subject, lines.join('\n')]]);
	};
};

/** Fed with an event of each device, it sends one mail, with a line for each of the first 50. */
const lists = (subject: string, lineOf: (device: Device) => string, event: object = {}): Show => {
	return async (given) => {
		const { devices } = given;
		if (devices.length === 0) return;
		const events = changed(devices).map((its) => ({ ...its, ...event }));
		const [mail, ...others] = (await withEvents(given, events)).mails;
		assert.deepEqual([mail?.subject, others], [`${subject}: ${devices.length}`, []]);
		assertListed(mail?.text ?? '', devices.map(lineOf), 50);
	};
};

const inGroup = (sn: string, groupName?: string) => ({ device: { sn, groupName } });

export const MAILS: Readonly<Record<string, Example>> = {
	'fleet-changes': {
		promises: {
			'sends one mail about all devices that are new, moved or removed': sends(
				'Devices new: 1, moved: 2, removed: 1',
				['RT1: new in North', 'RT2: removed', 'RT3: moved from South to North', 'RT4: moved from South to no group'],
				[
					{ event: 'deviceCreated', ...inGroup('RT1', 'North') },
					{ event: 'deviceRemoved', ...inGroup('RT2') },
					{ event: 'groupChanged', previous: 'South', current: 'North', ...inGroup('RT3', 'North') },
					{ event: 'groupChanged', previous: 'South', current: null, ...inGroup('RT4') },
				],
			),
		},
		anyFleet: lists('Devices new', ({ sn, group }) => `${named(sn)}: new in ${named(group?.name)}`, {
			event: 'deviceCreated',
		}),
	},
	'low-battery': {
		anyFleet: lists('Low batteries', ({ sn, group }) => `${named(sn)} (${named(group?.name)}): 19`, { current: 19 }),
	},
	'offline-devices': {
		promises: {
			'sends one mail about all devices that went offline': async ({ mailServer, polled, wentOffline }) => {
				resultOf(polled, 'Send mail');
				const [mail, ...others] = mailsAbout('Devices offline for', mailServer);
				assert.equal(mail?.subject, `Devices offline for 15 minutes: ${wentOffline.length}`);
				const byId = wentOffline.toSorted((one, other) => (one.id < other.id ? -1 : 1));
				assert.equal(mail.text, byId.map(({ sn, group }) => `${sn} (${group.name}): offline`).join('\n'));
				assert.deepEqual([mail.to, others], [['operations@example.com'], []]);
			},
			'counts and lists what went offline and what is back': sends(
				'Devices offline for 15 minutes: 2, back online for 15 minutes: 1',
				['RT0 (North): offline', 'RT1 (North): offline', 'RT2 (North): back online'],
				[0, 0, 1].map((current, at) => ({ current, ...inGroup(`RT${at}`, 'North') })),
			),
		},
		anyFleet: async (given) => {
			const { main, mailServer, workflow, devices } = given;
			const sample = await byHand(main, workflow);
			if (devices.length === 0)
				return assert.match(sample['Online status changed']?.error ?? '', /^The platform has no devices/);
			assert.match(mailServer.mails.at(-1)?.subject ?? '', /^Sample: Devices /);
			assert.match((await chatMessages(given)).join(), /sample[^]+sample[^]+sample[^]+sample/);
			const lineOf = (device: Device) => `${listed(device, ['groupName'])}: offline`;
			await lists('Devices offline for 15 minutes', lineOf)(given);
			const pinData = { 'Online status changed': changed(devices).map((json) => ({ json })) };
			for (const text of await chatMessages(given, pinData)) assertListed(text, devices.map(lineOf), 50, 1);
		},
	},
	'person-in-charge': {
		promises: {
			'sends each mail once, also if the mail server refuses one for seconds': async (given) => {
				const { mails } = await toPeople(given, [451, 421]);
				assert.deepEqual(mails, [NORTH, SOUTH, OTHERS]);
			},
			'sends the other mails if one cannot be sent, and then fails with the address': async (given) => {
				const { results, mails } = await toPeople(given, [451, 451, 451, 451, 451]);
				assert.deepEqual(mails, [SOUTH, OTHERS]);
				assert.match(results['Stop with reason']?.error ?? '', /No email to first@example.com: .*451/);
			},
		},
		// Each device is in one mail.
		anyFleet: async (given) => {
			const { workflow, devices } = given;
			if (devices.length === 0) return;
			const people = withPeople(workflow, 'North', devices[0]?.group?.name ?? 'South');
			const { results, mails } = await withEvents({ ...given, workflow: people }, changed(devices));
			resultOf(results, 'Send mail');
			const countIn = ({ subject = '' }: Mail) => Number(/^Devices .*: (\d+)$/.exec(subject)?.[1]);
			const total = mails.reduce((sum, mail) => sum + countIn(mail), 0);
			assert.equal(total, devices.length);
		},
	},
	'offline-report': {
		promises: {
			'says so if no device is offline, and calls the monitor': async (given) => {
				const { mailServer, platform, devices } = given;
				const offline = devices.filter(({ onlineStatus }) => onlineStatus === 0);
				for (const { sn } of offline) platform.fleet.update(sn, { onlineStatus: 1 });
				assert.equal(await report(given), 1);
				for (const device of offline) platform.fleet.update(device.sn, device);
				const [mail] = mailsAbout('Offline devices: none of 1,000', mailServer);
				assert.match(mail?.html ?? '', /^No device is offline\.\s*$/);
			},
			'sends only the reason if the devices could not be listed, and calls no monitor': async (given) => {
				const { mailServer, platform } = given;
				const known = mailServer.mails.length;
				assert.equal(await faulty(platform, async () => await report(given)), 0);
				const [mail, ...others] = mailServer.mails.slice(known);
				assert.deepEqual([mail?.subject, others], ['No report of offline devices today', []]);
				assert.match(mail?.text ?? '', /^n8n could not list the devices\.\n\n.*code 10005.*\n.+/);
			},
		},
		anyFleet: offlineReport,
	},
	'failed-executions': {
		promises: {
			'sends one mail about a failed part of a fleet: the message, what to do, the node and a link': failedPart,
			'sends one mail about a failed poll, which has no execution, as a sample': async ({
				main,
				mailServer,
				workflow,
			}) => {
				const error = { message: 'The platform rejected the sign-in', description: 'Enter the new key.' };
				const failure = { trigger: { error, mode: 'trigger' }, workflow: { id: 'watched', name: 'watched' } };
				await main.execute(await main.create({ ...workflow, id: newId() }), 'An execution failed', failure);
				const [mail] = mailsAbout('Sample: Failed: watched', mailServer);
				const words = `${error.message}\n${error.description}`;
				assert.equal(mail?.text, `${words}\n\nA trigger of the workflow could not poll or start.`);
			},
		},
		anyFleet: async (given) => {
			const error = { message: HOSTILE_TEXTS.join('\n').repeat(5) };
			const workflow = { id: '1', name: HOSTILE_TEXTS.join(' ') };
			const failure = { execution: { url: 'http://127.0.0.1/1', error }, workflow };
			const shown = /^Sample: Failed: =HYPERLINK\("http:\/\/example\.com","Open"\)[^]*<img src=x[^]*127\.0\.0\.1\/1\n/;
			const pinData = { 'An execution failed': [{ json: failure }] };
			for (const text of await chatMessages(given, pinData)) assert.match(text, shown);
		},
	},
	heartbeat: {
		anyFleet: async (given) => {
			assert.deepEqual([await report(given), await faulty(given.platform, async () => await report(given))], [1, 0]);
		},
	},
};

/** The mails that the server got, with subjects that begin like this. */
function mailsAbout(subject: string, { mails }: ExampleSetup['mailServer']): Mail[] {
	return mails.filter((mail) => mail.subject?.startsWith(subject));
}

const NORTH = ['first@example.com', 'RT1 (North): offline\nRT4 (North): offline'];
const SOUTH = ['second@example.com', 'RT2 (South): offline'];
const OTHERS = ['others@example.com', 'RT3 (no group): offline, no person in charge'];

/** Four devices of three groups go offline, while the mail server refuses some attempts. */
async function toPeople(given: ExampleSetup, refusals: ExampleSetup['mailServer']['refusals']) {
	given.mailServer.refusals.push(...refusals);
	const offline = [inGroup('RT1', 'North'), inGroup('RT2', 'South'), inGroup('RT3'), inGroup('RT4', 'North')];
	const events = offline.map((its) => ({ ...its, current: 0 }));
	const { results, mails } = await withEvents(
		{ ...given, workflow: withPeople(given.workflow, 'North', 'South') },
		events,
	);
	return { results, mails: mails.map(({ to, text }) => [to.join(), text]) };
}

/** The example with people in charge of two groups, and one for all others. */
function withPeople(workflow: ExampleSetup['workflow'], ...groups: [string, string]): ExampleSetup['workflow'] {
	const addresses = ['first', 'second', 'others'].map((person) => `${person}@example.com`);
	const people = [...groups, 'All other groups'].map((name, at) => {
		return { id: String(at), name, type: 'string', value: addresses[at] };
	});
	const nodes = workflow.nodes.map((node) =>
		node.name === 'People'
			? { ...node, parameters: { ...node.parameters, assignments: { assignments: people } } }
			: node,
	);
	return { ...workflow, nodes };
}

/** Runs an example with a monitor, and returns how often it called the monitor. */
async function report({ main, platform, workflow }: ExampleSetup): Promise<number> {
	return (await monitored(platform, workflow, async (watched) => await byHand(main, watched))).calls;
}

async function offlineReport({ main, mailServer, workflow, devices }: ExampleSetup): Promise<void> {
	resultOf(await byHand(main, workflow), 'Send report');
	const mail = mailServer.mails.at(-1);
	const offline = devices.filter(({ onlineStatus }) => OFFLINE.includes(onlineStatus));
	const count = (offline.length || 'none').toLocaleString('en');
	assert.equal(mail?.subject, `Offline devices: ${count} of ${devices.length.toLocaleString('en')}`);
	if (devices.length === 0) return assert.match(mail.html ?? '', /^n8n found no devices\. Check /);
	// A text that is not escaped is no cell.
	const cells = [...(mail.html ?? '').matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, cell = '']) => oneLine(plain(cell)));
	const rows = cells.flatMap((_, at) => (at % 3 === 0 ? [cells.slice(at, at + 3).join('|')] : []));
	const expected = offline.map(({ sn, group, attributes }) =>
		[sn, group?.name, attributes?.['offlineSince']].map((value) => oneLine(String(value ?? ''))).join('|'),
	);
	assert.deepEqual(rows.sort(), expected.sort());
}

const SCHEDULE = { type: 'n8n-nodes-base.scheduleTrigger', typeVersion: 1.2 };

/** The example is the error workflow of read-in-parts.json. n8n starts it for the part, and for the execution that called it. */
async function failedPart({ main, mailServer, platform, workflow }: ExampleSetup): Promise<void> {
	const parts = await exampleWorkflow('read-in-parts');
	const settings = { executionOrder: 'v1', errorWorkflow: workflow.id };
	const nodes = parts.nodes.map((node) => (node.name === 'Start' ? { ...node, ...SCHEDULE } : node));
	await published(main, workflow.id, async () => {
		await faulty(platform, async () => await onSchedule(main, { ...parts, nodes, settings }));
		await until('n8n reports the part only', async () => (await main.executions(workflow.id)).length === 2);
		for (const id of await main.executions(workflow.id)) await main.results(id);
	});
	const [mail, ...others] = mailsAbout(`Failed: ${parts.name}`, mailServer);
	assert.deepEqual(others, []);
	assert.match(mail?.text ?? '', /^.*code 10005.*\n.+\n\nNode: Get this part\nExecution: http.+\/executions\/\d+$/);
}

/** Sends the texts as docs/examples.md says it, and returns what people then read. */
async function chatMessages({ main, workflow }: ExampleSetup, pinData: object = {}): Promise<string[]> {
	const page = readPage('docs/examples.md');
	const fields = Object.keys(CHATS).map((name) => {
		const [, value] = new RegExp(`^\\| ${name} .*?\\| \`+({{.+?}})\`+ +\\|$`, 'm').exec(page) ?? [];
		return { id: name, name, type: 'string', value: `=${value}` };
	});
	const chats = { type: 'n8n-nodes-base.set', typeVersion: 3.4, parameters: { assignments: { assignments: fields } } };
	const nodes = workflow.nodes.map((node) => (node.name === 'Send mail' ? { ...node, ...chats } : node));
	const [sent = {}] = resultOf(await byHand(main, { ...workflow, nodes, pinData }), 'Send mail').items;
	return Object.entries(CHATS).map(([name, shown]) => shown(z.string().parse(sent[name])));
}

/** What each chat shows for a text; it throws if the chat would refuse it, or take a part of it for markup or a mention. */
const CHATS: Readonly<Record<string, (text: string) => string>> = {
	Telegram: unescaped,
	Slack: unescaped,
	'Microsoft Teams': (text) => unescaped(text.replaceAll('<br>', '\n')),
	Discord(text) {
		assert(text.length <= 2000, `${text.length} characters`);
		const [, shown] = /^```\n((?:(?!```)[^])*)\n```$/.exec(text) ?? [];
		assert(shown !== undefined, text);
		return shown;
	},
};

/** All of them allow more. */
function unescaped(html: string): string {
	assert(html.length < 2000, `${html.length} characters`);
	assert(!/[<>]|&(?!(?:amp|lt|gt);)/.test(html), html);
	return plain(html);
}

const plain = (html: string) => html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

/** In one line, and of 100 characters at most. */
function short(text: string): string {
	const [...characters] = oneLine(text);
	return characters.length > 100 ? `${characters.slice(0, 100).join('')}…` : characters.join('');
}

const named = (name: unknown) => short(String(name ?? '').trim() || 'no group');

/** A device as most texts have it: with its names that are not empty. */
export function listed(device: Device, names: ReadonlyArray<'groupName' | 'modelName'>): string {
	const given = names.map((name) => String(simplified(device)[name] ?? '')).filter((name) => name.trim() !== '');
	return short(`${device.sn}${given.length > 0 ? ` (${given.join(', ')})` : ''}`);
}

/** A text has the first of these lines, and says how many more there are. A code block of Discord can't have a backtick. */
export function assertListed(
	text: string,
	lines: readonly string[],
	most: number,
	least = Math.min(most, lines.length),
): void {
	const shown = text.split('\n');
	const [, more = '0'] = /^… and (\d+) more/.exec(shown.at(-1) ?? '') ?? [];
	if (more !== '0') shown.pop();
	assert(shown.length >= least && shown.length <= most, `${shown.length} devices`);
	assert.equal(shown.length + Number(more), lines.length);
	const quoted = (line: string) => line.replaceAll('`', "'");
	assert.deepEqual(shown.map(quoted), lines.slice(0, shown.length).map(quoted));
}
