/** What a step shows: its title, which it may change, and a line while it runs. */
export interface Task {
	title: string;
	say(line: string): void;
}

/**
 * Runs `work` and shows its progress: in a line that changes on a terminal, otherwise in plain lines.
 * @param stream for the progress; `stderr` keeps standard output for the result
 * @throws the error of `work`, after its message was shown
 */
export async function step<T>(
	title: string,
	work: (task: Task) => Promise<T>,
	stream: 'stdout' | 'stderr' = 'stdout',
): Promise<T> {
	const { [stream]: out } = process;
	const show = (line: string) => out.write(out.isTTY ? `\r\x1b[K${line.slice(0, out.columns - 1)}` : `${line}\n`);
	const end = (line: string) => void (show(line), out.isTTY && out.write('\n'));
	const task = { title, say: (line: string) => void show(`› ${line}`) };
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
