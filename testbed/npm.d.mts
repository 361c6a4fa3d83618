import type { SpawnOptions } from 'node:child_process';

type OnLine = (line: string, end: () => void) => void;

export function installLocked(
	folder: string,
	flags: string[],
	count: number,
	onProgress: (words: string) => void,
): Promise<string[] | undefined>;

export function resolveLock(
	folder: string,
	flags: string[],
	before: string | undefined,
	onProgress: (words: string) => void,
): Promise<string[] | undefined>;

interface System {
	platform: string;
	arch: string;
	libc: string | undefined;
}

type Names = string | readonly string[] | undefined;

export function fitsSystem(entry: { os?: Names; cpu?: Names; libc?: Names }, system?: System): boolean;

interface Report {
	excludeNetwork?: boolean;
	getReport(): { header: { glibcVersionRuntime?: string } };
}

export function thisSystem(platform?: string, report?: Report): System;

export function npmCommand(
	execPath: string | undefined,
	platform: string,
): { command: string; before: string[]; shell: boolean };

export function runNpm(args: string[], options: SpawnOptions, onLine: OnLine): Promise<number>;

export function run(command: string, args: string[], options: SpawnOptions, onLine: OnLine): Promise<number>;
