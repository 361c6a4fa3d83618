import type { Resource } from '../operation';
import { request } from './request';

export const api: Resource = { name: 'API Request', operations: { request }, defaultOperation: 'request' };
