package dev.parley.model;

import java.time.Duration;
import java.util.UUID;

class OfflineModelContractTest extends ModelContract {

  @Override
  Model cooperative() {
    return new OfflineModel(() -> UUID.randomUUID().toString(), Duration.ofMillis(20));
  }
}
