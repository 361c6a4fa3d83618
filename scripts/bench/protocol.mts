import { z } from 'zod/v4';

/** A platform and its fleet. */
const servedSchema = z.object({
	size: z.number(),
	tls: z.boolean(),
	baseUrl: z.string(),
	apiKey: z.string(),
	/** Of its first devices. */
	serialNumbers: z.array(z.string()),
});

export type Served = z.infer<typeof servedSchema>;

/** To the platforms: the latency from now on. They also clear the recorded requests. */
export const commandSchema = z.object({ latencyMs: z.number() });

/** From the platforms: their fleets, once, and then a response to each command. */
export const messageSchema = z.union([
	z.object({ served: z.array(servedSchema) }),
	z.object({ ready: z.literal(true) }),
]);

export type Message = z.infer<typeof messageSchema>;

/** How a list is read. */
export const contenderSchema = z.object({
	kind: z.enum(['node', 'http request', 'request helper', 'undici']),
	/** Undefined: the default of the node; of the platform for the HTTP Request node. */
	pageSize: z.number().optional(),
	parallel: z.number().optional(),
	output: z.enum(['simplified', 'raw']).optional(),
});

export type Contender = z.infer<typeof contenderSchema>;

/** To a process that measures memory, in its argument. */
export const memoryTaskSchema = z.object({
	contender: contenderSchema,
	warmUp: servedSchema,
	fleet: servedSchema,
});

export type MemoryTask = z.infer<typeof memoryTaskSchema>;

/** In bytes, without what the process needed before. */
export const memorySchema = z.object({ peak: z.number(), retained: z.number(), before: z.number() });

export type Memory = z.infer<typeof memorySchema>;
