import type { SpawnOptions } from 'node:child_process';

type OnLine = (line: string, end: () => void) => void;

export function installLocked(
	folder: string,
	flags: string[],
	count: number,
	onProgress: (words: string) => void,
): Promise<string[] | undefined>;

export function runNpm(args: string[], options: SpawnOptions, onLine: OnLine): Promise<number>;

export function run(command: string, args: string[], options: SpawnOptions, onLine: OnLine): Promise<number>;
