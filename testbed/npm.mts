import { execa } from 'execa';

/**
 * Runs npm in `folder` to install packages or to choose their versions.
 * @param onProgress called with a few words, often on a terminal, otherwise rarely
 * @throws Error with a message for the person at the terminal
 */
export async function runNpm(
	folder: string,
	args: readonly string[],
	onProgress: (words: string) => void,
): Promise<void> {
	const errors: string[] = [];
	const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=http'];
	const npm = execa('npm', [...args, ...flags], { cwd: folder, stdin: 'ignore', all: true, reject: false });
	let fetched = 0;
	onProgress('asking the npm registry, up to a minute');
	for await (const line of npm.iterable({ from: 'all' })) {
		const [, address, reason] = /^npm http fetch GET (\S+) attempt \d+ failed with (\w+)/.exec(line) ?? [];
		if (address !== undefined) onProgress(`${new URL(address).origin} does not answer (${reason}), trying again`);
		else if (/^npm http (?:fetch|cache) \S.*\.tgz\b/.test(line)) {
			fetched++;
			if (process.stdout.isTTY || fetched % 500 === 0) onProgress(`${fetched} packages; unpacking takes 2 minutes`);
		} else if (line.startsWith('npm error')) errors.push(line.replace(/^npm error ?/, '  '));
	}
	if (!(await npm).failed) return;
	const todo = errors.some((line) => line.includes('ETARGET')) ? ['Use another version.'] : NETWORK;
	throw new Error(['npm could not install the packages. It says:', ...errors.slice(0, 20), ...todo].join('\n'));
}

const NETWORK = [
	'Check the network connection. A proxy, or a registry of your own, is set by',
	'  npm config set proxy <address>      npm config set registry <address>',
	'Run it again: it goes on where it stopped.',
];
