import type { Resource } from '../operation';
import { count } from './count';
import { get } from './get';
import { getAll } from './getAll';

export const device: Resource = { name: 'Device', operations: { count, get, getAll }, defaultOperation: 'getAll' };
