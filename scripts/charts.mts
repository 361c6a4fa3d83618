/**
 * Draws the charts of the docs from the measured figures, as `docs/pictures/chart-*.svg`: `npm run charts`. Each chart is drawn
 * for a light and for a dark background. It measures nothing: `npm run bench -- --write` and `npm run scaling -- --write` do.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

import { checkout } from '../testbed/checkout.mts';
import { fleetsSchema, performanceSchema, readFigures } from './figures.mts';

/** A value of a line over the size of the fleet. */
interface Point {
	way: string;
	devices: number;
	value: number;
	/** The process ended here: the value is only the position of the mark. */
	ended?: boolean;
}

interface Panel {
	title: string;
	points: Point[];
	/** The axis of the values. */
	scale: 'log' | 'linear';
	axis: { format: string } | { labelExpr: string };
}

type PanelSpec = Extract<TopLevelSpec, { hconcat: unknown[] }>['hconcat'][number];

/** GitHub's text colors, and the colors of Okabe and Ito, which people with color blindness can tell apart. */
const themes = {
	light: { text: '#1f2328', faint: '#d1d9e0', lines: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#7f7f7f'] },
	dark: { text: '#f0f6fc', faint: '#3d444d', lines: ['#56b4e9', '#e69f00', '#00c896', '#e58fc4', '#a0a0a0'] },
};
const SHAPES = ['circle', 'square', 'triangle-up', 'diamond', 'triangle-down'];

const { lists, polls } = await readFigures('performance', performanceSchema);
const { runs } = await readFigures('fleets', fleetsSchema);
const plain = lists.filter(({ tls }) => !tls);
const seconds = ({ milliseconds }: { milliseconds: number }) => milliseconds / 1000;
const inSeconds = {
	labelExpr: "datum.value < 1 ? format(datum.value * 1000, ',') + ' ms' : format(datum.value, ',') + ' s'",
};
const http100 = ['HTTP Request, 100 per page', 'HTTP Request node, 100 per page'] as const;
const http2000 = ['HTTP Request, 2,000 per page', 'HTTP Request node, 2,000 per page'] as const;

await draw('chart-time', timePanel());
await draw('chart-memory', memoryPanel());
await draw('chart-poll', ...pollPanels());

/** Time to read a whole fleet: this node, the HTTP Request node, and n8n's request helper, which is the limit. */
function timePanel(): Panel {
	const names = [
		['HTTP Request, defaults (10 per page)', 'HTTP Request node, defaults (10 per page)'],
		...[http100, http2000],
		['this node, defaults', 'Device Management node, defaults'],
		["n8n's request helper, this node's defaults", "the limit: n8n's request helper"],
	] as const;
	const points = pick(names, plain, seconds);
	return { title: 'Time to read all devices, 50 ms latency', points, scale: 'log', axis: inSeconds };
}

/** Memory of an n8n worker for a whole fleet in one execution. */
function memoryPanel(): Panel {
	const names = [
		['HTTP Request, 2,000 per page, and Split Out', 'HTTP Request node and Split Out'],
		['Get Many, Raw', 'Get Many, Raw'],
		['Get Many, Simplified', 'Get Many, Simplified'],
		['Get Many, Selected Fields (serial number, status)', 'Get Many, Selected Fields'],
		['in parts of 10,000, over 2 workers', 'Get Many in parts of 10,000'],
	] as const;
	const measured = runs.flatMap((run) => ('outOfMemory' in run ? [] : run));
	const ended = runs.filter((run) => 'outOfMemory' in run);
	const points = pick(names, measured, ({ workerBytes }) => workerBytes / 1024 / 1024);
	const top = 1.05 * Math.max(...measured.map(({ workerBytes }) => workerBytes / 1024 / 1024));
	return {
		title: 'Memory of an n8n worker (×: the worker ran out of memory)',
		points: [...points, ...pick(names, ended, () => top).map((point) => ({ ...point, ended: true }))],
		scale: 'linear',
		axis: { labelExpr: "format(datum.value, ',') + ' MB'" },
	};
}

/** Cost of one poll of an unchanged fleet, and of reading the fleet with the HTTP Request node. */
function pollPanels(): Panel[] {
	const reads = [100, 2000].flatMap((perPage) =>
		plain
			.filter(({ way }) => way === `HTTP Request, ${perPage.toLocaleString('en')} per page`)
			.map((list) => ({ ...list, requests: Math.ceil(list.devices / perPage) })),
	);
	const names = [
		...[http100, http2000],
		['trigger, both statuses and removed, quiet', 'trigger: status changed, removed'],
		['trigger, created and updated, quiet', 'trigger: created, updated'],
	] as const;
	const measured = [...polls, ...reads];
	const [requests, times] = [pick(names, measured, (poll) => poll.requests), pick(names, measured, seconds)];
	return [
		{ title: 'Requests of one poll', points: requests, scale: 'log', axis: { format: ',' } },
		{ title: 'Time of one poll, 50 ms latency', points: times, scale: 'log', axis: inSeconds },
	];
}

/** Returns the points of the named ways, with their names and order in the chart. */
function pick<Measured extends { way: string; devices: number }>(
	names: ReadonlyArray<readonly [way: string, name: string]>,
	measured: readonly Measured[],
	valueOf: (measured: Measured) => number,
): Point[] {
	return names.flatMap(([way, name]) => {
		const found = measured.filter((candidate) => candidate.way === way);
		return found.map((each) => ({ way: name, devices: each.devices, value: valueOf(each) }));
	});
}

async function draw(name: string, ...panels: readonly Panel[]): Promise<void> {
	for (const [theme, { text, faint, lines }] of Object.entries(themes)) {
		const colors = { labelColor: text, titleColor: text, gridColor: faint, domainColor: faint, tickColor: faint };
		const spec: TopLevelSpec = {
			$schema: 'https://vega.github.io/schema/vega-lite/v6.json',
			background: 'transparent',
			padding: 12,
			hconcat: panels.map((panel) => specOf(panel, lines, panels.length === 1 ? 720 : 340)),
			resolve: { scale: { y: 'independent' } },
			config: {
				font: 'system-ui, "Segoe UI", Helvetica, Arial, sans-serif',
				view: { stroke: null },
				axis: { ...colors, labelFontSize: 12, titleFontSize: 12 },
				legend: { labelColor: text, labelFontSize: 13, labelLimit: 0, symbolStrokeWidth: 2, columns: 2 },
				title: { color: text, fontSize: 15, anchor: 'start', offset: 12 },
			},
		};
		const svg = await new View(parse(compile(spec).spec), { renderer: 'none' }).toSVG();
		await writeFile(join(checkout, 'docs', 'pictures', `${name}-${theme}.svg`), `${svg}\n`);
	}
	process.stdout.write(`docs/pictures/${name}-{light,dark}.svg\n`);
}

function specOf({ title, points, scale, axis }: Panel, lines: string[], width: number): PanelSpec {
	const domain = [...new Set(points.map(({ way }) => way))];
	const sizes = [...new Set(points.map(({ devices }) => devices))].sort((one, other) => one - other);
	const ticks = scale === 'log' ? { values: [0.01, 0.1, 1, 10, 100, 1000, 10_000] } : { tickCount: 6 };
	const legend = { title: null, orient: 'bottom', labelLimit: 0, columnPadding: 16 } as const;
	const byWay = (range: string[]) => ({ field: 'way', type: 'nominal', scale: { domain, range }, legend }) as const;
	const [measured, ended] = [{ filter: '!datum.ended' }, { filter: 'datum.ended' }];
	return {
		title,
		width,
		height: 300,
		data: { values: points },
		encoding: {
			x: {
				field: 'devices',
				type: 'quantitative',
				scale: { type: 'log', nice: false, padding: 12 },
				axis: { title: 'devices', values: sizes, format: ',', grid: false },
			},
			y: { field: 'value', type: 'quantitative', scale: { type: scale }, axis: { title: null, ...ticks, ...axis } },
			color: byWay(lines),
			shape: byWay(SHAPES),
		},
		layer: [
			{ mark: { type: 'line', strokeWidth: 2.5 }, transform: [measured] },
			{ mark: { type: 'point', filled: true, size: 80, opacity: 1 }, transform: [measured] },
			{
				mark: { type: 'point', filled: true, size: 250, opacity: 1, angle: 45 },
				transform: [ended],
				encoding: { shape: { value: 'cross' } },
			},
		],
	};
}
