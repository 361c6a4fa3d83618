/**
 * Runs n8n's verification rules before publishing, over the sources and the packed tarball, and ignores inline comments. Errors fail. A warning fails, too, unless its rule is accepted below with a reason.
 */
import { ESLint } from 'eslint';
import { join } from 'node:path';
import { checkout } from '../testbed/checkout.mts';
import { withPackedPackage } from '../testbed/pack.mts';

const sources = ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'];
const scanner = join(checkout, 'scripts', 'scan.config.mjs');

/** Rules whose warnings are accepted, each with the reason. An unused entry fails. */
const ACCEPTED: Readonly<Record<string, string>> = {};

const unused = new Set(Object.keys(ACCEPTED));
const isClean = [
	await lint('sources, stock rules', checkout, ['package.json', '{nodes,credentials}/**/*.ts']),
	await lint('sources, verification rules', checkout, sources, scanner),
	await withPackedPackage((folder) =>
		lint('packed tarball, verification rules', folder, ['dist/**/*.js', 'package.json'], scanner),
	),
].every(Boolean);
for (const rule of unused) console.log(`✖ no warning of ${rule} is left: remove it from the accepted ones`);
process.exitCode = isClean && unused.size === 0 ? 0 : 1;

/** Lints the matching files and prints the findings. Returns whether there are only accepted warnings. */
async function lint(title: string, folder: string, patterns: string[], config?: string) {
	const eslint = new ESLint({
		cwd: folder,
		allowInlineConfig: false,
		...(config === undefined ? {} : { overrideConfigFile: config }),
	});
	const results = await eslint.lintFiles(patterns);
	const messages = results.flatMap((file) => file.messages);
	const accepted = messages.filter(({ severity, ruleId }) => severity === 1 && ruleId !== null && ruleId in ACCEPTED);
	for (const { ruleId } of accepted) unused.delete(ruleId ?? '');
	const findings = messages.length - accepted.length;
	const also = accepted.length > 0 ? `, ${accepted.length} accepted warnings` : '';
	console.log(`${findings === 0 ? '✔' : '✖'} ${title}: ${results.length} files, ${findings} findings${also}`);
	const formatter = await eslint.loadFormatter('stylish');
	const report = await formatter.format(results);
	if (report) console.log(report);
	return findings === 0;
}
