/**
 * A sleep that something else in the process can end early. A wake-up that comes while nothing sleeps is kept: it ends the
 * next sleep at once, so no wake-up is lost between "nothing to do" and "asleep".
 */
export type WakeUp = {
  /** One sleep at a time. */
  sleep(milliseconds: number): Promise<'woken' | 'timeout'>;
  wake(): void;
};

export function createWakeUp(): WakeUp {
  let isPending = false;
  let end: (() => void) | undefined;

  return {
    async sleep(milliseconds) {
      if (!isPending) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(milliseconds, 0));
          // Background work never keeps the process alive.
          timer.unref();
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        end = undefined;
      }
      const isWoken = isPending;
      isPending = false;
      return isWoken ? 'woken' : 'timeout';
    },
    wake() {
      isPending = true;
      end?.();
    },
  };
}
