package dev.parley.api;

import dev.parley.http.ErrorFormat;
import dev.parley.http.Route;
import dev.parley.stream.EventFormat;
import dev.parley.task.TaskType;
import java.util.List;
import java.util.Map;

/// An API that a program adds to a server, such as the dialect of another system.
@FunctionalInterface
public interface ApiModule {

  /// The parts of an API. A client selects one of `eventFormats` by its name, with `format=NAME` in
  /// the native API.
  record ApiParts(
      List<Route> routes, List<ErrorFormat> errorFormats, Map<String, EventFormat> eventFormats) {
    public ApiParts {
      routes = List.copyOf(routes);
      errorFormats = List.copyOf(errorFormats);
      eventFormats = Map.copyOf(eventFormats);
    }

    /// The parts of an API with its own routes.
    public ApiParts(List<Route> routes, List<ErrorFormat> errorFormats) {
      this(routes, errorFormats, Map.of());
    }
  }

  /// Creates the API. Called once for each server.
  ApiParts create(ApiDependencies apiDependencies);

  /// The types of task of this API that an agent of the default team takes, besides its own.
  default List<TaskType> taskTypes(String agentId) {
    return List.of();
  }
}
