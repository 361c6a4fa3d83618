/** The version that says which commit a tarball was built from. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { readManifest } from '../../testbed/checkout.mts';

const execute = promisify(execFile);

/**
 * Returns the version in package.json on a commit with its tag, and otherwise that version with the commit:
 * `1.2.3-dev.g0123456789ab`. It ends with `.dirty` if the clone has changes.
 * @throws Error if `folder` is not a clone with a commit
 */
export async function buildVersion(folder: string): Promise<string> {
	const { version } = await readManifest(folder);
	const git = async (...args: string[]) => (await execute('git', args, { cwd: folder })).stdout;
	// The first line is empty in the top folder of a clone, and not in a folder inside another repository.
	const head = await git('rev-parse', '--show-prefix', 'HEAD').catch(() => '');
	const commit = /^\n([0-9a-f]{40,64})\n$/.exec(head)?.[1];
	if (commit === undefined) {
		throw new Error(
			`git finds no commit for ${folder}, so no version can name it. Clone the repository with git and run the command there.
Or run \`npm run build && npm pack\`: the tarball then has version ${version} and doesn't say what it was built from.`,
		);
	}
	const changes = await git('status', '--porcelain', '--untracked-files=normal');
	const tags = await git('tag', '--points-at', commit);
	if (changes === '' && tags.split('\n').includes(`v${version}`)) return version;
	// The 'g' is there because a number with a leading zero is not valid in a version.
	return `${version}-dev.g${commit.slice(0, 12)}${changes === '' ? '' : '.dirty'}`;
}
