package dev.parley.model;

import dev.parley.offline.OfflineModel;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import java.time.Duration;
import java.util.UUID;

class OfflineModelContractTest extends ModelContract {

  @Override
  Model cooperative() {
    return new OfflineModel(
        () -> UUID.randomUUID().toString(),
        Duration.ofMillis(20),
        new SystemTime(new SystemThreads()));
  }
}
