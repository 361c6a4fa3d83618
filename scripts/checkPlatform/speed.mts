import { number } from '../demo/tables.mts';
import type { Sample } from './paging.mts';
import { type Finding, type Findings, unsure, yes } from './rows.mts';

/** Time and size of the largest page read of up to 1,000 devices, and an estimate for a full read and a poll. */
export function findSpeed(sample: Sample | undefined, total: number | undefined, findings: Findings): Finding {
	if (sample === undefined) return unsure('no page to measure', 'Run the check again.');
	const { devices, took } = sample;
	const bytes = Buffer.byteLength(JSON.stringify(devices));
	const found = `${number(devices.length)} devices: ${inSeconds(took)}, ${inMegabytes(bytes)}`;
	const pages = pagesOf(total, devices.length);
	// One page after the other. The nodes read several pages at once.
	const fullRead = inSeconds(pages * took);
	const isSorted = findings.sortCreateTime?.result === 'yes' && findings.sortUpdateTime?.result === 'yes';
	const poll = isSorted ? inSeconds(took) : fullRead;
	const whole = `A full read, or a poll for changes and removals, takes about ${fullRead}.`;
	return yes(found, `${whole} A poll for created or updated devices takes about ${poll}.`);
}

/** The requests of polls that read the whole fleet, with the Page Size that the check advises. */
export function findPolls(sample: Sample | undefined, total: number | undefined, { totals }: Findings): Finding {
	// The nodes fall back to pages of 50.
	const requests = pagesOf(total, sample?.devices.length ?? 50);
	const aDay = (polls: number) => number(polls * requests);
	const advice = `Polls every minute: ${aDay(1440)} a day. Every five minutes: ${aDay(288)} a day.`;
	// The walker reads a list again if its total is missing or wrong.
	const isCertain = total !== undefined && total >= (sample?.devices.length ?? 0) && totals?.result !== 'unsure';
	return isCertain ? yes(number(requests), advice) : unsure(`at least ${number(requests)}`, advice);
}

function pagesOf(total: number | undefined, length: number): number {
	return Math.max(1, Math.ceil((total ?? length) / length));
}

/** Rounded up to a tenth of a second. */
function inSeconds(ms: number): string {
	return `${number(Math.max(1, Math.ceil(ms / 100)) / 10)} s`;
}

function inMegabytes(bytes: number): string {
	return `${number(Math.max(1, Math.ceil(bytes / 100_000)) / 10)} MB`;
}
