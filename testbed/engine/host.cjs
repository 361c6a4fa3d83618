'use strict';
// n8n-workflow ships a CommonJS and an ES module copy. n8n-core and every node use the CommonJS one, and classes such as
// NodeApiError are only equal within one copy, so the engine takes it by `require` even when a script runs as an ES module.
exports.core = require('n8n-core');
exports.workflow = require('n8n-workflow');
exports.Container = require('@n8n/di').Container;
