/** What must match before a release: the tag, the version in package.json and a dated section of the changelog. */
import { z } from 'zod/v4';

/** Returns what does not match, as texts; an empty list if everything does. */
export function disagreements(version: string, tag: string, changelog: string): string[] {
	const found: string[] = [];
	if (tag !== `v${version}`)
		found.push(`The tag is ${tag}, and package.json has version ${version}: expected v${version}`);
	const headings = changelog.split(/\r?\n/).filter((line) => line.startsWith('## '));
	const [heading] = headings;
	const [, name, date] = /^## (\S+) — (.+)$/.exec(heading ?? '') ?? [];
	if (name !== version) found.push(`The first section of CHANGELOG.md is “${heading ?? 'none'}”: expected ${version}`);
	else if (!z.iso.date().safeParse(date).success)
		found.push(`The section ${version} of CHANGELOG.md has no date: “${heading}”`);
	if (headings.filter((other) => other.startsWith(`## ${version} `)).length > 1) {
		found.push(`CHANGELOG.md has two sections for ${version}`);
	}
	return found;
}
