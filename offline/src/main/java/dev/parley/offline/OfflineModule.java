package dev.parley.offline;

import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.server.ModelConfig;

/// What this module adds to a server.
public final class OfflineModule {

  /// The offline model: `provider: offline`.
  public static final ModelConfig.Provided MODEL =
      new ModelConfig.Provided(
          OfflineModel.NAME,
          "the offline model",
          true,
          sources -> new OfflineModel(sources.ids(), OfflineModel.PACE, sources.time()));

  /// The agent that plays the scenarios of the A2A conformance kits: `type: conformance`.
  public static final AgentKind.Provided CONFORMANCE_AGENT =
      new AgentKind.Provided("conformance", ConformanceAgent::new);

  private OfflineModule() {}
}
