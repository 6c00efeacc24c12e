package dev.parley.api.contexts.workflow;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApiModule;
import java.util.List;
import java.util.Map;

/// Adds the event format `workflow` to the native API.
public final class WorkflowModule implements ApiModule {

  @Override
  public ApiParts create(ApiDependencies apiDependencies) {
    var format = new WorkflowFormat(apiDependencies.log(), apiDependencies.views());
    return new ApiParts(List.of(), List.of(), Map.of("workflow", format));
  }
}
