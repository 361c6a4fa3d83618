import { writeSync } from 'node:fs';

/** The exit code after Ctrl-C. */
export const STOPPED = 130;

/** Ends the process on Ctrl-C. */
export function stopOnCtrlC(): void {
	process.once('SIGINT', () => {
		writeSync(process.stderr.fd, '\nStopped.\n');
		process.exit(STOPPED);
	});
}

/**
 * Runs `work` and shows its progress: in a line that changes on a terminal, otherwise in plain lines.
 * @param work gets its title, and `output`: each text set there is shown, too
 * @param stream for the progress; `stderr` keeps standard output for the result
 * @throws the error of `work`, after its message was shown
 */
export async function step<T>(
	title: string,
	work: (task: { title: string; output: string }) => Promise<T>,
	stream: 'stdout' | 'stderr' = 'stdout',
): Promise<T> {
	const { [stream]: out } = process;
	const show = (line: string) => out.write(out.isTTY ? `\r\x1b[K${line.slice(0, out.columns - 1)}` : `${line}\n`);
	const task = {
		title,
		set output(line: string) {
			show(`› ${line}`);
		},
		get output() {
			return '';
		},
	};
	const end = (line: string) => void (show(line), out.isTTY && out.write('\n'));
	show(`❯ ${title}`);
	try {
		const result = await work(task);
		end(`✔ ${task.title}`);
		return result;
	} catch (error) {
		end(`✖ ${error instanceof Error ? error.message : String(error)}`);
		throw error;
	}
}
