/**
 * Draws the charts of the docs from the measured figures, as `docs/pictures/chart-*.svg`: `npm run charts`. Each chart is drawn
 * for a light and for a dark background. It measures nothing: `npm run bench -- --write` and `npm run scaling -- --write` do.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

import { checkout } from '../testbed/checkout.mts';
import { type FleetFigures, fleetFigures, type PerformanceFigures, performanceFigures } from './figures.mts';

type Theme = 'light' | 'dark';

/** A measured value. */
interface Point {
	way: string;
	devices: number;
	value: number;
	/** The process ended here: the value is only the position of the mark. */
	ended?: boolean;
}

/** Lines over the size of the fleet. */
interface Panel {
	title: string;
	points: readonly Point[];
	scale: 'log' | 'linear';
	/** A format of d3, or a Vega expression over `datum.value`. */
	labels: { format: string } | { labelExpr: string };
}

type PanelSpec = Extract<TopLevelSpec, { hconcat: unknown[] }>['hconcat'][number];

/** GitHub's text colors, and the colors of Okabe and Ito, which people with color blindness can tell apart. */
const themes = {
	light: { text: '#1f2328', faint: '#d1d9e0', lines: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#7f7f7f'] },
	dark: { text: '#f0f6fc', faint: '#3d444d', lines: ['#56b4e9', '#e69f00', '#00c896', '#e58fc4', '#a0a0a0'] },
} as const satisfies Record<Theme, object>;

const MEGABYTE = 1024 * 1024;
const SECONDS = {
	labelExpr: "datum.value < 1 ? format(datum.value * 1000, ',') + ' ms' : format(datum.value, ',') + ' s'",
};

const performance = await performanceFigures.read();
const fleets = await fleetFigures.read();
const charts: ReadonlyMap<string, readonly Panel[]> = new Map([
	['chart-time', [timePanel(performance)]],
	['chart-memory', [memoryPanel(fleets)]],
	['chart-poll', pollPanels(performance)],
]);

const folder = join(checkout, 'docs', 'pictures');
for (const [name, panels] of charts) {
	for (const theme of ['light', 'dark'] as const) {
		const view = new View(parse(compile(specOf(panels, theme)).spec), { renderer: 'none' });
		await writeFile(join(folder, `${name}-${theme}.svg`), `${await view.toSVG()}\n`);
	}
	process.stdout.write(`docs/pictures/${name}-{light,dark}.svg\n`);
}

/** Time to read a whole fleet: this node, the HTTP Request node, and n8n's request helper, which is the limit. */
function timePanel({ lists }: PerformanceFigures): Panel {
	const names = new Map([
		['HTTP Request, defaults (10 per page)', 'HTTP Request node, defaults (10 per page)'],
		['HTTP Request, 100 per page', 'HTTP Request node, 100 per page'],
		['HTTP Request, 2,000 per page', 'HTTP Request node, 2,000 per page'],
		['this node, defaults', 'Device Management node, defaults'],
		["n8n's request helper, this node's defaults", "the limit: n8n's request helper"],
	]);
	return {
		title: 'Time to read all devices, 50 ms latency',
		points: pick(names, withoutTls(lists), ({ milliseconds }) => milliseconds / 1000),
		scale: 'log',
		labels: SECONDS,
	};
}

/** Memory of an n8n worker for a whole fleet in one execution. */
function memoryPanel({ runs }: FleetFigures): Panel {
	const names = new Map([
		['HTTP Request, 2,000 per page, and Split Out', 'HTTP Request node and Split Out'],
		['Get Many, Raw', 'Get Many, Raw'],
		['Get Many, Simplified', 'Get Many, Simplified'],
		['Get Many, Selected Fields (serial number, status)', 'Get Many, Selected Fields'],
		['in parts of 10,000, over 2 workers', 'Get Many in parts of 10,000'],
	]);
	const measured = runs.flatMap((run) => ('outOfMemory' in run ? [] : run));
	const most = Math.max(...measured.map(({ workerBytes }) => workerBytes)) / MEGABYTE;
	const ended = runs.filter((run) => 'outOfMemory' in run);
	return {
		title: 'Memory of an n8n worker (×: the worker ran out of memory)',
		points: [
			...pick(names, measured, ({ workerBytes }) => workerBytes / MEGABYTE),
			...pick(names, ended, () => most * 1.05).map((point) => ({ ...point, ended: true })),
		],
		scale: 'linear',
		labels: { labelExpr: "format(datum.value, ',') + ' MB'" },
	};
}

/** Cost of one poll of an unchanged fleet, and of reading the fleet with the HTTP Request node. */
function pollPanels({ lists, polls }: PerformanceFigures): Panel[] {
	const reads = [100, 2000].flatMap((perPage) =>
		withoutTls(lists)
			.filter(({ way }) => way === `HTTP Request, ${perPage.toLocaleString('en')} per page`)
			.map((list) => ({ ...list, requests: Math.ceil(list.devices / perPage) })),
	);
	const measured = [...polls, ...reads];
	const names = new Map([
		['HTTP Request, 100 per page', 'HTTP Request node, 100 per page'],
		['HTTP Request, 2,000 per page', 'HTTP Request node, 2,000 per page'],
		['trigger, both statuses and removed, quiet', 'trigger: status changed, removed'],
		['trigger, created and updated, quiet', 'trigger: created, updated'],
	]);
	return [
		{
			title: 'Requests of one poll',
			points: pick(names, measured, ({ requests }) => requests),
			scale: 'log',
			labels: { format: ',' },
		},
		{
			title: 'Time of one poll, 50 ms latency',
			points: pick(names, measured, ({ milliseconds }) => milliseconds / 1000),
			scale: 'log',
			labels: SECONDS,
		},
	];
}

/** Returns the points of the named ways, with their names and order in the chart. */
function pick<Measured extends { way: string; devices: number }>(
	names: ReadonlyMap<string, string>,
	measured: readonly Measured[],
	valueOf: (measured: Measured) => number,
): Point[] {
	return [...names].flatMap(([way, name]) =>
		measured
			.filter((candidate) => candidate.way === way)
			.map((found) => ({ way: name, devices: found.devices, value: valueOf(found) })),
	);
}

function withoutTls(lists: PerformanceFigures['lists']): PerformanceFigures['lists'] {
	return lists.filter(({ tls }) => !tls);
}

function specOf(panels: readonly Panel[], theme: Theme): TopLevelSpec {
	const { text, faint } = themes[theme];
	const colors = { labelColor: text, titleColor: text, gridColor: faint, domainColor: faint, tickColor: faint };
	const width = panels.length === 1 ? 720 : 340;
	return {
		$schema: 'https://vega.github.io/schema/vega-lite/v6.json',
		background: 'transparent',
		padding: 12,
		hconcat: panels.map((panel) => panelSpec(panel, theme, width)),
		resolve: { scale: { y: 'independent' } },
		config: {
			font: 'system-ui, "Segoe UI", Helvetica, Arial, sans-serif',
			view: { stroke: null },
			axis: { ...colors, labelFontSize: 12, titleFontSize: 12 },
			legend: { labelColor: text, labelFontSize: 13, labelLimit: 0, symbolStrokeWidth: 2, columns: 2 },
			title: { color: text, fontSize: 15, anchor: 'start', offset: 12 },
		},
	};
}

function panelSpec({ title, points, scale, labels }: Panel, theme: Theme, width: number): PanelSpec {
	const ways = [...new Set(points.map(({ way }) => way))];
	const powersOfTen = [-2, -1, 0, 1, 2, 3, 4].map((power) => 10 ** power);
	const sizes = [...new Set(points.map(({ devices }) => devices))].sort((one, other) => one - other);
	const legend = { title: null, orient: 'bottom', labelLimit: 0, columnPadding: 16 } as const;
	return {
		title,
		width,
		height: 300,
		data: { values: [...points] },
		encoding: {
			x: {
				field: 'devices',
				type: 'quantitative',
				scale: { type: 'log', nice: false, padding: 12 },
				axis: { title: 'devices', values: sizes, format: ',', grid: false },
			},
			y: {
				field: 'value',
				type: 'quantitative',
				scale: { type: scale },
				axis: { title: null, ...(scale === 'log' ? { values: powersOfTen } : { tickCount: 6 }), ...labels },
			},
			color: {
				field: 'way',
				type: 'nominal',
				scale: { domain: ways, range: [...themes[theme].lines] },
				legend,
			},
			shape: {
				field: 'way',
				type: 'nominal',
				scale: { domain: ways, range: ['circle', 'square', 'triangle-up', 'diamond', 'triangle-down'] },
				legend,
			},
		},
		layer: [
			{ mark: { type: 'line', strokeWidth: 2.5 }, transform: [{ filter: '!datum.ended' }] },
			{ mark: { type: 'point', filled: true, size: 80, opacity: 1 }, transform: [{ filter: '!datum.ended' }] },
			{
				mark: { type: 'point', filled: true, size: 250, opacity: 1, angle: 45 },
				transform: [{ filter: 'datum.ended' }],
				encoding: { shape: { value: 'cross' } },
			},
		],
	};
}
