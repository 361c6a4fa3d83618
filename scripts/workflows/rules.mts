/**
 * This repository's rules for workflow files and composite actions: pinned actions, commands that also run on a developer's machine,
 * few permissions, and no cache in published files. It reads text and runs nothing.
 */
import { parse } from 'yaml';
import { z } from 'zod/v4';

const stepSchema = z.looseObject({
	uses: z.string().default(''),
	run: z.string().default(''),
	with: z.record(z.string(), z.unknown()).default({}),
});
const permissionsSchema = z.record(z.string(), z.string());
const jobSchema = z.looseObject({
	uses: z.string().optional(),
	'timeout-minutes': z.number().optional(),
	permissions: permissionsSchema.default({}),
	steps: z.array(stepSchema).default([]),
});
const workflowSchema = z.looseObject({
	permissions: permissionsSchema.optional(),
	concurrency: z.unknown(),
	jobs: z.record(z.string(), jobSchema),
});
const actionSchema = z.looseObject({ runs: z.looseObject({ steps: z.array(stepSchema) }) });

/** The names that a command can use, to detect typos before GitHub does. */
export interface Known {
	/** Names in package.json's `scripts`. */
	scripts: readonly string[];
	/** Whether the repository has this file. */
	hasFile: (path: string) => boolean;
}

/** Returns what is wrong with a workflow file, in words. */
export function problemsIn(text: string, known: Known): string[] {
	const workflow = workflowSchema.safeParse(parse(text));
	if (!workflow.success) return [`It is no workflow: ${z.prettifyError(workflow.error)}`];
	const { permissions, concurrency, jobs } = workflow.data;
	const found = unpinned(text);
	if (permissions === undefined) found.push('It has no top-level permissions');
	else if (Object.values(permissions).includes('write')) {
		found.push('A top-level permission is write: set it for one job');
	}
	if (concurrency === undefined) found.push('It has no concurrency');
	for (const [name, job] of Object.entries(jobs)) {
		const problems = problemsOf(job.steps, known);
		if (job.uses === undefined && job['timeout-minutes'] === undefined) problems.push('has no timeout-minutes');
		if (
			job.permissions['id-token'] === 'write' &&
			/\bnpm (?:ci|install|run)\b/.test(commandsOf(job.steps).join('\n'))
		) {
			problems.push('may sign as this repository and installs packages or runs their code');
		}
		found.push(...problems.map((problem) => `The job ${name} ${problem}`));
	}
	return found;
}

/** Returns what is wrong with a composite action, in words. */
export function problemsInAction(text: string, known: Known): string[] {
	return [...unpinned(text), ...problemsOf(actionSchema.parse(parse(text)).runs.steps, known)];
}

function problemsOf(steps: ReadonlyArray<z.infer<typeof stepSchema>>, known: Known): string[] {
	const found: string[] = [];
	for (const { uses, with: inputs } of steps) {
		if (uses.startsWith('actions/checkout@') && inputs['persist-credentials'] !== false) {
			found.push('checks out without persist-credentials: false');
		}
		if (uses.startsWith('actions/setup-node@') && inputs['package-manager-cache'] !== false) {
			found.push('sets up Node.js without package-manager-cache: false');
		}
		if (uses.startsWith('actions/cache') || inputs['cache'] !== undefined) found.push('uses a cache');
	}
	const unknown = commandsOf(steps).filter((command) => !isKnown(command, known));
	return [...found, ...unknown.map((command) => `runs “${command}”`)];
}

function commandsOf(steps: ReadonlyArray<z.infer<typeof stepSchema>>): string[] {
	return steps.flatMap(({ run }) => (run === '' ? [] : run.trim().split('\n')));
}

/** Whether a developer can run the same command: a script of package.json, or a file of this repository. */
function isKnown(command: string, { scripts, hasFile }: Known): boolean {
	if (command.includes('${{')) return false;
	const script = /^npm run ([\w:-]+)(?: -- .*)?$/.exec(command)?.[1];
	if (script !== undefined) return scripts.includes(script);
	const file = /^(?:bash|node) ([\w./-]+)(?: .*)?$/.exec(command)?.[1];
	return file === undefined ? command === 'npm ci' : hasFile(file);
}

/** Third-party actions with a tag, which can move, or without a comment with their version. */
function unpinned(text: string): string[] {
	const used = [...text.matchAll(/\buses\b["']?\s*:(.*)$/gm)].map(([, name = '']) => name.trim());
	return used
		.filter((name) => !name.startsWith('./') && !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(name))
		.map((name) => `${name} is not pinned by a commit, with its version in a comment`);
}
