import { Listr, ListrLogger, ProcessOutput } from 'listr2';

/** What a step says about itself while it works. */
export interface Progress {
	/** Adds a line below the step's title. */
	say(line: string): void;
	/** Replaces the title. */
	title(text: string): void;
}

/** Most lines below a title on a terminal; where there is none, all are printed. */
const lines = 8;

/**
 * Does a piece of work and shows meanwhile that it goes on: animated on a terminal, else in plain lines.
 * @param stream where it shows that; `stderr` leaves standard output to the result
 * @throws what the work throws; its message has been shown then
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
			// Ctrl-C is the command's own business.
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
