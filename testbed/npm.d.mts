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

type Names = string | readonly string[] | undefined;

export function fitsSystem(entry: { os?: Names; cpu?: Names; libc?: Names }): boolean;
