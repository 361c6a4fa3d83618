import type { INodeExecutionData } from 'n8n-workflow';

import { useBench } from '../../testbed/jest.mts';
import { operationNames, operations } from '../../testbed/operations.mts';

const bench = useBench({ fleet: { size: 3 } });

/** Words that n8n would replace a message for, and a word that it looks for. */
const DETAIL = 'ECONNREFUSED ENOENT <b>x</b> authorization/../x';

/** The causes of codes and statuses are in test/nodeError.test.mts, their words in test/core/errors. */
test.each(operationNames)('a refused item of %s says why unchanged, and leaves the others alone', async (operation) => {
	const parameters = { ...operations[operation], options: { parallelRequests: 1 } };
	const input = bench.fleet.devices.map(({ sn }, mark) => ({ sn, mark: String(mark) }));
	const isOther = ({ pairedItem }: INodeExecutionData) => Object(pairedItem).item !== 1;
	const healthy = (await bench.run(parameters, { input })).data('Devices').filter(isOther);
	expect(healthy).not.toEqual([]);
	// The code explains a status other than 200, which is kept.
	const fault = { code: 10007, details: [DETAIL], status: 418 };
	const message = expect.stringMatching(
		/^[A-Z][\w' ]{9,} \(code 10007: ECONNREFUSED ENOENT <b>x<\/b> authorization\/.*\) \[item 1\]$/,
	);
	const description = expect.stringMatching(/^[A-Z].*\.$/);

	for (const [onError, output] of [
		['continueRegularOutput', 0],
		['continueErrorOutput', 1],
		['stopWorkflow', 0],
	] as const) {
		bench.platform.forget();
		bench.platform.settings.fault = ({ order }) => (order === 2 ? fault : undefined);
		const { error, data } = await bench.run(parameters, { onError, input });
		if (onError === 'stopWorkflow') {
			expect(error).toMatchObject({ message, description, context: { itemIndex: 1, data: { code: 10007 } } });
			continue;
		}
		const failed = data('Devices', output).filter(({ json }) => 'error' in json);
		const details = { code: 10007, httpStatus: 418, description };
		expect(failed).toMatchObject([{ json: { error: message, details }, pairedItem: { item: 1 } }]);
		expect(data('Devices').filter(({ json }) => !('error' in json))).toEqual(healthy);
	}
});
