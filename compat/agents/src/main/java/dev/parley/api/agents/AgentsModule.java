package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApiModule;

/// Adds the agents API, with its Socket.IO and WebSocket sessions, to a server.
public final class AgentsModule implements ApiModule {

  @Override
  public ApiParts create(ApiDependencies apiDependencies) {
    return new AgentsApi(apiDependencies).parts();
  }
}
