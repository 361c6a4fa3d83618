/**
 * What n8n's verification scanner applies to a published package beyond the stock `eslint.config.mjs`: its rules also for compiled
 * code and for all JSON files. `npm run lint` applies both without inline comments. Warnings fail, too.
 */
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { defineConfig } from 'eslint/config';
import typescript from 'typescript-eslint';

export default defineConfig(
	n8nCommunityNodesPlugin.configs.recommended,
	{ rules: { 'no-console': 'error' } },
	{ files: ['**/*.json'], languageOptions: { parser: typescript.parser } },
);
