import { Readable } from 'node:stream';

import fc from 'fast-check';
import { z } from 'zod/v4';

import { Failure } from '../../nodes/DeviceManagement/core/failure.ts';
import { deviceSchema } from '../../nodes/DeviceManagement/core/device.ts';
import { pageSchema } from '../../nodes/DeviceManagement/core/record.ts';
import { openPlatform, type PlatformContext } from '../../nodes/DeviceManagement/transport/platform.ts';
import { runs } from '../../testbed/runs.mts';

const KEY = 'canary-key/with+signs';

/** What n8n's request function may do with one request. */
type Exchange = () => Promise<unknown>;

/** As much of n8n's context as the request helper uses. */
function contextAnswering(exchange: Exchange): PlatformContext {
	const context = {
		getCredentials: async () => ({ baseUrl: 'https://platform.example', authentication: 'apiKey', apiKey: KEY }),
		getExecutionCancelSignal: () => undefined,
		helpers: { httpRequestWithAuthentication: exchange },
	};
	return context as unknown as PlatformContext;
}

const envelope = fc
	.record(
		{
			code: fc.oneof(fc.constantFrom(0, 0, 14101, 10018, 9999), fc.jsonValue()),
			msg: fc.oneof(
				fc.string(),
				fc.constant(`not accepted: ${KEY}`),
				fc.constant(encodeURIComponent(KEY)),
				fc.jsonValue(),
			),
			data: fc.oneof(
				fc.jsonValue(),
				fc.record({ content: fc.oneof(fc.jsonValue(), fc.array(fc.object())), totalElements: fc.jsonValue() }),
			),
		},
		{ requiredKeys: [] },
	)
	.map((value) => Buffer.from(JSON.stringify(value)));

const chunks = fc.oneof(
	envelope.map((body) => [body]),
	fc.tuple(envelope, fc.nat(100)).map(([body, cut]) => [body.subarray(0, cut), body.subarray(cut)]),
	fc.tuple(envelope, fc.nat(100)).map(([body, cut]) => [body.subarray(0, cut)]),
	fc.array(
		fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
		{ maxLength: 5 },
	),
	fc.string({ unit: 'binary' }).map((text) => [Buffer.from(text)]),
);

const headers = fc.record(
	{
		'content-length': fc.oneof(fc.string(), fc.constantFrom('99999999999', '-1', '0')),
		'retry-after': fc.oneof(fc.string(), fc.constantFrom('0', '1e9', '-1')),
		location: fc.oneof(fc.string(), fc.constantFrom('https://other.example/', 'http://[', `https://${KEY}.example/`)),
	},
	{ requiredKeys: [] },
);

const secretError = fc.constantFrom(
	new Error(`Request to https://platform.example/?key=${KEY} failed`),
	Object.assign(new Error('x'), { code: 'ECONNRESET', config: { headers: { Authorization: KEY } } }),
	Object.assign(new Error(KEY), { cause: Object.assign(new Error(KEY), { code: 'ENOTFOUND' }) }),
	Object.assign(new Error('x'), { code: `weird ${KEY}` }),
	`text ${KEY}`,
	{ message: KEY },
	undefined,
	null,
);

const exchange: fc.Arbitrary<Exchange> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc
			.record({ statusCode: fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 599 })), headers, chunks })
			.map(({ chunks: parts, ...response }) => async () => ({ ...response, body: Readable.from(parts) })),
	},
	fc.tuple(chunks, secretError).map(([parts, error]) => async () => ({
		statusCode: 200,
		headers: {},
		body: Readable.from(
			(async function* () {
				yield* parts;
				throw error;
			})(),
		),
	})),
	secretError.map((error) => async () => await Promise.reject(error)),
	fc.anything().map((value) => async () => value),
	fc.anything().map((body) => async () => ({ statusCode: 200, headers: {}, body })),
);

test('for any response, the request helper returns a clean result or throws a Failure, without a secret', async () => {
	await fc.assert(
		fc.asyncProperty(
			exchange,
			fc.constantFrom<z.ZodType<unknown>>(pageSchema, deviceSchema('A'), z.unknown()),
			async (answer, schema) => {
				const platform = await openPlatform(contextAnswering(answer), { parallelRequests: 4 });
				const outcome = await platform
					.request({
						method: 'GET',
						path: '/api/device/list',
						purpose: 'read',
						schema,
						expected: 'what was asked for',
						settings: { timeoutMs: 5000, maxRetries: 0 },
					})
					.then(
						() => undefined,
						(thrown: unknown) => thrown,
					);
				if (outcome === undefined) return;
				expect(outcome).toBeInstanceOf(Failure);
				if (!(outcome instanceof Failure)) return;
				const shown = JSON.stringify([outcome.message, outcome.details, String(outcome.stack).split('\n')[0]]);
				expect(shown).not.toContain(KEY);
				expect(shown).not.toContain(encodeURIComponent(KEY));
				expect(outcome.cause).toBeUndefined();
			},
		),
		runs(3000),
	);
});
