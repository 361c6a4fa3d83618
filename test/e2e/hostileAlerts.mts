/**
 * Examples that tell people something, with a hostile fleet: each mail, ticket and chat message is read as its reader's program does,
 * with the limits that GitHub, Telegram and Discord publish. A sample is no alarm.
 */
import MarkdownIt from 'markdown-it';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { z } from 'zod/v4';

import { type NodeResults, resultOf } from '../../testbed/n8n/results.mts';
import { readPage } from '../../testbed/pages.mts';
import { HOSTILE_TEXTS } from '../../testbed/platform/hostileFleet.mts';
import type { Device } from '../../testbed/platform/server.mts';
import type { ExampleSetup } from './exampleSetup.mts';
import { withPeople } from './oneMailEach.mts';
import { byHand, faulty, monitored, simplified } from './runs.mts';

/** By the names of the examples' files. `devices` are those of each platform. */
export const ALERTS: Readonly<Record<string, (given: ExampleSetup) => Promise<void>>> = {
	'failed-executions': failedExecutions,
	'fleet-changes': fleetChanges,
	heartbeat,
	'low-battery': lowBattery,
	'offline-devices': offlineDevices,
	'offline-report': offlineReport,
	'offline-tickets': offlineTickets,
	'person-in-charge': personInCharge,
};

/** The devices go offline at once, with the status in three forms. */
const reported = (devices: readonly Device[], statuses: readonly unknown[]) =>
	devices.map((device, at) => ({
		json: {
			...{ event: 'onlineStatusChanged', field: 'onlineStatus', previous: null },
			...{
				current: statuses[at % 3],
				device: simplified(device),
				eventId: '1',
				detectedAt: '2026-11-01T08:15:00.000Z',
			},
		},
	}));
const OFFLINE = [0, '0', false];
const ONLINE = [1, '1', true];

async function offlineDevices(given: ExampleSetup): Promise<void> {
	const { main, mailServer, workflow, devices } = given;
	const { mails } = mailServer;
	const sample = await byHand(main, workflow);
	if (devices.length === 0)
		return assert.match(sample['Online status changed']?.error ?? '', /^The platform has no devices/);
	assert.match(mails.at(-1)?.subject ?? '', /^Sample: Devices /);
	assert.match((await chatMessages(given, {})).join(), /sample[^]+sample[^]+sample[^]+sample/);

	const lines = devices.map((device) => `${lineOf(device, ['groupName'])}: offline`);
	const pinData = { 'Online status changed': reported(devices, OFFLINE) };
	resultOf(await byHand(main, { ...workflow, pinData }), 'Send mail');
	const mail = mails.at(-1);
	assert.equal(mail?.subject, `Devices offline for 15 minutes: ${devices.length}`);
	assertListed(mail.text ?? '', lines, 50);
	for (const message of await chatMessages(given, pinData)) assertListed(message, lines, 50, 1);
}

/** One line for each device, whatever its name has. */
async function fleetChanges(setup: ExampleSetup): Promise<void> {
	await sendsLines(setup, 'Devices changed', { event: 'deviceCreated' }, 'Devices new');
}

async function lowBattery(setup: ExampleSetup): Promise<void> {
	await sendsLines(setup, 'Battery below 20', { event: 'attributeChanged', current: 19 }, 'Low batteries');
}

async function sendsLines(
	{ main, mailServer, workflow, devices }: ExampleSetup,
	trigger: string,
	event: object,
	words: string,
): Promise<void> {
	if (devices.length === 0) return;
	const pinned = reported(devices, OFFLINE).map(({ json }) => ({ json: { ...json, ...event } }));
	resultOf(await byHand(main, { ...workflow, pinData: { [trigger]: pinned } }), 'Send mail');
	const { subject, text = '' } = mailServer.mails.at(-1) ?? {};
	assert.equal(subject, `${words}: ${devices.length}`);
	assert.equal(text.split('\n').length, Math.min(devices.length, 50) + (devices.length > 50 ? 1 : 0));
}

/** Each device is in one mail. */
async function personInCharge({ main, mailServer, workflow, devices }: ExampleSetup): Promise<void> {
	if (devices.length === 0) return;
	const known = mailServer.mails.length;
	const pinData = { 'Online status changed': reported(devices, OFFLINE) };
	resultOf(
		await byHand(main, { ...withPeople(workflow, 'North', devices[0]?.group?.name ?? 'South'), pinData }),
		'Send mail',
	);
	const counts = mailServer.mails
		.slice(known)
		.map(({ subject }) => Number(/^Devices .*: (\d+)$/.exec(subject ?? '')?.[1]));
	assert.equal(
		counts.reduce((sum, count) => sum + count),
		devices.length,
	);
}

async function failedExecutions(given: ExampleSetup): Promise<void> {
	const message = HOSTILE_TEXTS.join('\n').repeat(5);
	const failure = {
		execution: { url: 'http://127.0.0.1/1', error: { message } },
		workflow: { id: '1', name: HOSTILE_TEXTS.join(' ') },
	};
	const pinData = { 'An execution failed': [{ json: failure }] };
	for (const text of await chatMessages(given, pinData)) {
		assert.match(
			text,
			/^Sample: Failed: =HYPERLINK\("http:\/\/example\.com","Open"\)[^]*<img src=x[^]*127\.0\.0\.1\/1\n/,
		);
	}
}

/** Sends the texts as docs/examples.md says it, and returns what people then read. */
async function chatMessages({ main, workflow }: ExampleSetup, pinData: object): Promise<string[]> {
	const page = readPage('docs/examples.md');
	const fields = Object.keys(CHATS).map((name) => {
		const [, value] = new RegExp(`^\\| ${name} .*?\\| \`+({{.+?}})\`+ +\\|$`, 'm').exec(page) ?? [];
		return { id: name, name, type: 'string', value: `=${value}` };
	});
	const chats = { type: 'n8n-nodes-base.set', typeVersion: 3.4, parameters: { assignments: { assignments: fields } } };
	const nodes = workflow.nodes.map((node) => (node.name === 'Send mail' ? { ...node, ...chats } : node));
	const results: NodeResults = await byHand(main, { ...workflow, nodes, pinData });
	const [sent = {}] = resultOf(results, 'Send mail').items;
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
	return html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

async function offlineReport({ n8n, main, mailServer, workflow, devices }: ExampleSetup): Promise<void> {
	resultOf(await byHand(main, workflow), 'Send report');
	const mail = mailServer.mails.at(-1);
	const offline = devices.filter(({ onlineStatus }) => OFFLINE.includes(onlineStatus));
	const count = (offline.length || 'none').toLocaleString('en');
	assert.equal(mail?.subject, `Offline devices: ${count} of ${devices.length.toLocaleString('en')}`);
	if (devices.length === 0) return assert.match(mail.html ?? '', /^n8n found no devices\. Check /);
	const shown = cheerio(n8n.host.n8n).load(mail.html ?? '');
	assert.equal(shown('img, b, script, a').length, 0);
	const rows = shown('tbody tr').map((_at, row) =>
		shown(row)
			.find('td')
			.map((_cell, cell) => oneLine(shown(cell).text()))
			.get()
			.join('|'),
	);
	const expected = offline.map(({ sn, group, attributes }) =>
		[sn, group?.name, attributes?.['offlineSince']].map((value) => oneLine(String(value ?? ''))).join('|'),
	);
	assert.deepEqual(rows.get().sort(), expected.sort());
}

async function offlineTickets({ main, tracker, workflow: copied, devices }: ExampleSetup): Promise<void> {
	// Each run by hand is of a copy, which would have a table of its own.
	const id = `${copied.id}${devices.length}`;
	const workflow: typeof copied = JSON.parse(JSON.stringify(copied).replace('{{ $workflow.id }}', id));
	const run = async (statuses: readonly unknown[], changed = devices) =>
		await byHand(main, { ...workflow, pinData: { 'Online status changed': reported(changed, statuses) } });
	tracker.most = Infinity;
	const known = tracker.issues.length;
	await byHand(main, workflow);
	assert.equal(tracker.issues.length, known, 'a sample opened a ticket');
	if (devices.length === 0) return;
	resultOf(await run(OFFLINE), 'Remember ticket');
	const [ticket, ...others] = tracker.issues.slice(known);
	assert.deepEqual([ticket?.title, others], [`${devices.length} devices are offline`, []]);
	const [block, ...rest] = new MarkdownIt({ html: true }).parse(ticket?.body ?? '', {});
	assert.deepEqual(
		[block?.type, rest.map(({ type }) => type)],
		['fence', ['paragraph_open', 'inline', 'paragraph_close']],
	);
	assert.match(rest[1]?.content ?? '', /^Detected: \S+Z$/);
	assertListed(
		block?.content.trimEnd() ?? '',
		devices.map((device) => `- ${lineOf(device, ['groupName', 'modelName'])}`),
		250,
	);
	await run(ONLINE, devices.slice(1));
	assert.equal(ticket?.state, 'open');
	await run(ONLINE, devices.slice(0, 1));
	assert.equal(ticket.state, 'closed');
}

async function heartbeat({ main, platform, workflow }: ExampleSetup): Promise<void> {
	const run = async () => (await monitored(platform, workflow, async (watched) => await byHand(main, watched))).calls;
	assert.deepEqual([await run(), await faulty(platform, run)], [1, 0]);
}

/** A device as texts have it: with names that are not empty, in one line, and of 100 characters at most. */
function lineOf(device: Device, names: ReadonlyArray<'groupName' | 'modelName'>): string {
	const given = names.map((name) => String(simplified(device)[name] ?? '')).filter((name) => name.trim() !== '');
	const [...characters] = oneLine(`${device.sn}${given.length > 0 ? ` (${given.join(', ')})` : ''}`);
	return characters.length > 100 ? `${characters.slice(0, 100).join('')}…` : characters.join('');
}

/** A text has the first of these lines, and says how many more there are. A code block of Discord can't have a backtick. */
function assertListed(
	text: string,
	lines: readonly string[],
	most: number,
	least = Math.min(most, lines.length),
): void {
	const listed = text.split('\n');
	const [, more = '0'] = /^… and (\d+) more/.exec(listed.at(-1) ?? '') ?? [];
	if (more !== '0') listed.pop();
	assert(listed.length >= least && listed.length <= most, `${listed.length} devices`);
	assert.equal(listed.length + Number(more), lines.length);
	const plain = (line: string) => line.replaceAll('`', "'");
	assert.deepEqual(listed.map(plain), lines.slice(0, listed.length).map(plain));
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

/** The part of n8n's HTML parser that is used here. */
interface Selection {
	length: number;
	find(selector: string): Selection;
	map<T>(read: (at: number, element: object) => T): { get(): T[] };
	text(): string;
}
interface Cheerio {
	load(html: string): (what: string | object) => Selection;
}

function cheerio(n8n: string): Cheerio {
	return z.custom<Cheerio>((value) => typeof Object(value).load === 'function').parse(createRequire(n8n)('cheerio'));
}
