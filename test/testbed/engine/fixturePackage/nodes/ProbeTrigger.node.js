'use strict';

/** Finds nothing; the tests of the hosts replace its poll. */
exports.ProbeTrigger = class ProbeTrigger {
	description = {
		displayName: 'Probe Trigger',
		name: 'probeTrigger',
		group: ['trigger'],
		version: 1,
		description: 'Waits for things',
		defaults: { name: 'Probe Trigger' },
		polling: true,
		inputs: [],
		outputs: ['main'],
		credentials: [{ name: 'probeApi', required: true }],
		properties: [],
	};

	async poll() {
		return null;
	}
};
