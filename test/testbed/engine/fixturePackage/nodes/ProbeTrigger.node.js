'use strict';

/** Emits the things with an id above the last one it saw. */
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
		const { baseUrl } = await this.getCredentials('probeApi');
		const url = `${baseUrl}/things`;
		const things = await this.helpers.httpRequestWithAuthentication.call(this, 'probeApi', { url, json: true });
		const state = this.getWorkflowStaticData('node');
		const fresh = things.filter(({ id }) => id > (state.last ?? 0));
		if (fresh.length === 0) return null;
		state.last = Math.max(...fresh.map(({ id }) => id));
		return [this.helpers.returnJsonArray(fresh)];
	}
};
