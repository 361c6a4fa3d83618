import { writeSync } from 'node:fs';
import { Listr, ListrLogger, ProcessOutput } from 'listr2';

/** The exit code after Ctrl-C. */
export const STOPPED = 130;

/** Ends the process on Ctrl-C. The progress display hides the cursor and buffers both streams. */
export function stopOnCtrlC(): void {
	process.once('SIGINT', () => {
		writeSync(process.stderr.fd, `${process.stderr.isTTY ? '\x1b[?25h' : ''}\nStopped.\n`);
		process.exit(STOPPED);
	});
}

/**
 * Runs `work` and shows its progress: animated on a terminal, otherwise in plain lines.
 * @param work gets its title, and `output`: each text set there is a line below the title
 * @param stream for the progress; `stderr` keeps standard output for the result
 * @throws the error of `work`, after its message was shown
 */
export async function step<T>(
	title: string,
	work: (task: { title: string; output: string }) => Promise<T>,
	stream: 'stdout' | 'stderr' = 'stdout',
): Promise<T> {
	const processOutput = new ProcessOutput(process[stream], process.stderr);
	const logger = new ListrLogger({ useIcons: true, toStderr: [], processOutput });
	const tasks = new Listr<{ result: T }>(
		{
			title,
			task: async (context, task) => {
				context.result = await work(task);
			},
			// Most lines below the title on a terminal. Without a terminal, all lines are printed.
			rendererOptions: { persistentOutput: true, outputBar: 8 },
		},
		{
			// The command handles Ctrl-C.
			registerSignalListeners: false,
			rendererOptions: { logger },
			fallbackRenderer: 'simple',
			fallbackRendererOptions: { logger },
			fallbackRendererCondition: process[stream].isTTY !== true,
		},
	);
	return (await tasks.run()).result;
}
