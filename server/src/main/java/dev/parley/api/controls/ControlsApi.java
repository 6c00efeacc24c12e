package dev.parley.api.controls;

import dev.parley.api.ApiDependencies;
import dev.parley.control.TaskControls;
import dev.parley.http.Route;
import java.util.List;
import java.util.stream.Stream;

/// The routes of pauses, budgets and approval rules.
public final class ControlsApi {

  private final ApiDependencies parts;
  private final TaskControls controls;

  public ControlsApi(ApiDependencies parts, TaskControls controls) {
    this.parts = parts;
    this.controls = controls;
  }

  /// The routes.
  public List<Route> routes() {
    return Stream.of(
            new PauseRoutes(parts, controls.pauses()).routes(),
            new BudgetRoutes(controls.budgets()).routes(),
            new RuleRoutes(controls.rules(), parts.time()).routes())
        .flatMap(List::stream)
        .toList();
  }
}
