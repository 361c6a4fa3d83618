/**
 * Runs n8n's verification rules before publishing, over the sources and the packed tarball, and ignores inline comments. Warnings fail, too.
 */
import { ESLint } from 'eslint';
import { join } from 'node:path';
import { checkout } from '../testbed/checkout.mts';
import { withPackedPackage } from '../testbed/pack.mts';

const sources = ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'];
const scanner = join(checkout, 'scripts', 'scan.config.mjs');

const isClean = [
	await lint('sources, stock rules', checkout, ['package.json', '{nodes,credentials}/**/*.ts']),
	await lint('sources, verification rules', checkout, sources, scanner),
	await withPackedPackage((folder) =>
		lint('packed tarball, verification rules', folder, ['dist/**/*.js', 'package.json'], scanner),
	),
].every(Boolean);
process.exitCode = isClean ? 0 : 1;

/** Lints the matching files and prints the findings. Returns whether there are none. */
async function lint(title: string, folder: string, patterns: string[], config?: string) {
	const eslint = new ESLint({
		cwd: folder,
		allowInlineConfig: false,
		...(config === undefined ? {} : { overrideConfigFile: config }),
	});
	const results = await eslint.lintFiles(patterns);
	const findings = results.flatMap((file) => file.messages).length;
	console.log(`${findings === 0 ? '✔' : '✖'} ${title}: ${results.length} files, ${findings} findings`);
	const formatter = await eslint.loadFormatter('stylish');
	const report = await formatter.format(results);
	if (report) console.log(report);
	return findings === 0;
}
