// Resolves `./name` to `./name.js` or `./name/index.js`: generated code is written for bundlers.
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('.')) return next(specifier, context);
    for (const ending of ['', '.js', '/index.js']) {
      try {
        return next(specifier + ending, context);
      } catch (error) {
        if (!['ERR_MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT'].includes(error.code)) throw error;
      }
    }
    return next(specifier, context);
  },
});
