/** n8n's engine and its workflow library, in the one copy that n8n and the nodes share. */
export * as core from 'n8n-core';
export * as workflow from 'n8n-workflow';
export { Container } from '@n8n/di';
