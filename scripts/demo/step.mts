import { writeSync } from 'node:fs';
import { Listr, ListrLogger, ProcessOutput } from 'listr2';

/** The progress of a step. */
export interface Progress {
	/** Adds a line below the step's title. */
	say(line: string): void;
	/** Replaces the title. */
	title(text: string): void;
}

/** The exit code after Ctrl-C. */
export const STOPPED = 130;

/** Ends the process on Ctrl-C. The progress display hides the cursor and buffers both streams. */
export function stopOnCtrlC(): void {
	process.once('SIGINT', () => {
		writeSync(process.stderr.fd, `${process.stderr.isTTY ? '\x1b[?25h' : ''}\nStopped.\n`);
		process.exit(STOPPED);
	});
}

/** Most lines below a title on a terminal. Without a terminal, all lines are printed. */
const lines = 8;

/**
 * Runs `work` and shows its progress: animated on a terminal, otherwise in plain lines.
 * @param stream for the progress; `stderr` keeps standard output for the result
 * @throws the error of `work`, after its message was shown
 */
export async function step<T>(
	title: string,
	work: (progress: Progress) => Promise<T>,
	stream: 'stdout' | 'stderr' = 'stdout',
): Promise<T> {
	const results: T[] = [];
	const logger = new ListrLogger({
		useIcons: true,
		toStderr: [],
		processOutput: new ProcessOutput(process[stream], process.stderr),
	});
	await new Listr(
		[
			{
				title,
				task: async (_context, task) => {
					results.push(
						await work({
							say: (line) => {
								task.output = line;
							},
							title: (text) => {
								task.title = text;
							},
						}),
					);
				},
				rendererOptions: { persistentOutput: true, outputBar: lines },
			},
		],
		{
			// The command handles Ctrl-C.
			registerSignalListeners: false,
			rendererOptions: { logger },
			fallbackRenderer: 'simple',
			fallbackRendererOptions: { logger },
			fallbackRendererCondition: process[stream].isTTY !== true,
		},
	).run();
	const [result] = results;
	if (results.length === 0) throw new Error(`"${title}" did not come to its end`);
	return result as T;
}
