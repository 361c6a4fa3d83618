/**
 * This repository's rules for workflow files: pinned actions, commands that also run on a developer's machine, few permissions,
 * and no cache in published files. It reads the files and runs nothing.
 */
import { parseDocument, visit } from 'yaml';
import { z } from 'zod/v4';

const stepSchema = z.looseObject({
	uses: z.string().optional(),
	run: z.string().optional(),
	with: z.record(z.string(), z.unknown()).optional(),
});
const permissionsSchema = z.record(z.string(), z.string());
const jobSchema = z.looseObject({
	uses: z.string().optional(),
	'timeout-minutes': z.number().optional(),
	permissions: permissionsSchema.optional(),
	steps: z.array(stepSchema).default([]),
});
const workflowSchema = z.looseObject({
	permissions: permissionsSchema.optional(),
	concurrency: z.unknown(),
	jobs: z.record(z.string(), jobSchema),
});

type Job = z.infer<typeof jobSchema>;

/** The names that a command can use, to detect typos before GitHub does. */
export interface Known {
	/** Names in package.json's `scripts`. */
	scripts: readonly string[];
	/** Whether the repository has this file. */
	hasFile: (path: string) => boolean;
}

/** Returns what is wrong with a workflow file, in words. */
export function problemsIn(text: string, known: Known): string[] {
	const workflow = workflowSchema.safeParse(parseDocument(text).toJS());
	if (!workflow.success) return [`It is no workflow: ${z.prettifyError(workflow.error)}`];
	const { permissions, concurrency, jobs } = workflow.data;
	return [
		...(permissions === undefined ? ['It has no top-level permissions'] : []),
		...(permissions !== undefined && Object.values(permissions).includes('write')
			? ['A top-level permission is write: set it for one job']
			: []),
		...(concurrency === undefined ? ['It has no concurrency'] : []),
		...unpinned(text),
		...Object.entries(jobs).flatMap(([name, job]) => problemsOf(name, job, known)),
	];
}

function problemsOf(name: string, job: Job, known: Known): string[] {
	const found: string[] = [];
	if (job.uses === undefined && job['timeout-minutes'] === undefined) found.push('has no timeout-minutes');
	for (const { uses, with: inputs } of job.steps) {
		if (uses?.startsWith('actions/checkout@') && inputs?.['persist-credentials'] !== false) {
			found.push('checks out without persist-credentials: false');
		}
		if (uses?.startsWith('actions/setup-node@') && inputs?.['package-manager-cache'] !== false) {
			found.push('sets up Node.js without package-manager-cache: false');
		}
		if (uses?.startsWith('actions/cache') || inputs?.['cache'] !== undefined) found.push('uses a cache');
	}
	const commands = job.steps.flatMap(({ run }) => (run === undefined ? [] : run.trim().split('\n')));
	found.push(...commands.filter((command) => !isKnown(command, known)).map((command) => `runs “${command}”`));
	if (
		job.permissions?.['id-token'] === 'write' &&
		commands.some((command) => /\bnpm (?:ci|install|run)\b/.test(command))
	) {
		found.push('may sign as this repository and installs packages or runs their code');
	}
	return found.map((problem) => `The job ${name} ${problem}`);
}

/** Whether a developer can run the same command: a script of package.json, or a file of this repository. */
function isKnown(command: string, { scripts, hasFile }: Known): boolean {
	if (command.includes('${{')) return false;
	const script = /^npm run ([\w:-]+)(?: -- .*)?$/.exec(command)?.[1];
	if (script !== undefined) return scripts.includes(script);
	const file = /^(?:bash|node) ([\w./-]+)(?: .*)?$/.exec(command)?.[1];
	if (file !== undefined) return hasFile(file);
	return command === 'npm ci';
}

/** Third-party actions with a tag, which can move, or without a comment with their version. */
function unpinned(text: string): string[] {
	const found: string[] = [];
	visit(parseDocument(text), {
		Pair(_, { key, value }) {
			const uses = z.object({ value: z.string(), comment: z.string().nullish() }).safeParse(value).data;
			const name = z.object({ value: z.string() }).safeParse(key).data?.value;
			if (name !== 'uses' || uses === undefined || uses.value.startsWith('./')) return;
			if (!/@[0-9a-f]{40}$/.test(uses.value)) found.push(`${uses.value} is not pinned by a commit`);
			else if (!/^ v\d+\.\d+\.\d+$/.test(uses.comment ?? ''))
				found.push(`No comment says the version of ${uses.value}`);
		},
	});
	return found;
}
