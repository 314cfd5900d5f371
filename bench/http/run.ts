import { cleanUpWhenInterrupted, describeMachine, machineLine } from '../machine.ts';
import { type Load, startLoad } from './measure.ts';
import { FERRY, openStage, prepareFerry, type Stage, stopServices } from './stage.ts';

/** Measures with a service of its own and so many loads, and cleans up afterwards, whatever happens. */
export async function runOnStage(
  loadCount: number,
  measure: (stage: Stage, loads: readonly Load[]) => Promise<boolean>,
  stopOthers: () => void = () => undefined,
): Promise<void> {
  const stage = await openStage({});
  const loads = Array.from({ length: loadCount }, () => startLoad(stage.server.pid));
  const cleanUp = async (): Promise<void> => {
    stopOthers();
    for (const load of loads) load.stop();
    await stopServices();
    await stage.cleanUp();
  };
  cleanUpWhenInterrupted(cleanUp);
  try {
    await prepareFerry(stage);
    console.log(
      machineLine(await stage.using(FERRY, (database) => describeMachine(stage.directory, database))),
    );
    process.exitCode = (await measure(stage, loads)) ? 0 : 1;
  } finally {
    await cleanUp();
  }
}
