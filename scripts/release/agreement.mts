/** What must match before a release: the tag, the version in package.json and a dated section of the changelog. */
import { z } from 'zod/v4';

/** Returns what does not match, as texts; an empty list if everything does. */
export function disagreements(version: string, tag: string, changelog: string): string[] {
	const found: string[] = [];
	if (tag !== `v${version}`)
		found.push(`The tag is ${tag}, and package.json has version ${version}: expected v${version}`);
	const [heading = 'none'] = /^## .*$/m.exec(changelog) ?? [];
	const [name, date] = heading.slice('## '.length).split(' — ');
	if (name !== version || !z.iso.date().safeParse(date).success)
		found.push(`The first section of CHANGELOG.md is “${heading}”: expected ${version} with a date`);
	return found;
}
