/**
 * ESLint for what is not shipped: tests and developer commands. Separate, because the package's own
 * `eslint.config.mjs` has to stay the unchanged stock one, which looks at `.ts` only.
 */
import { defineConfig, globalIgnores } from 'eslint/config';
import typescript from 'typescript-eslint';

export default defineConfig(globalIgnores(['.cache/', 'dist/', 'coverage/', '**/*.{js,cjs,mjs,ts}']), {
	files: ['**/*.mts'],
	extends: [typescript.configs.recommended],
	rules: {
		'@typescript-eslint/no-explicit-any': 'error',
		// Like the compiler: a leading underscore marks an unused parameter.
		'@typescript-eslint/no-unused-vars': [
			'error',
			{ argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' },
		],
	},
});
