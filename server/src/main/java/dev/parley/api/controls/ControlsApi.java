package dev.parley.api.controls;

import dev.parley.api.ApiDependencies;
import dev.parley.control.TaskControls;
import dev.parley.http.Route;
import java.util.List;

/// The routes of pauses.
public final class ControlsApi {

  private final ApiDependencies parts;
  private final TaskControls controls;

  public ControlsApi(ApiDependencies parts, TaskControls controls) {
    this.parts = parts;
    this.controls = controls;
  }

  /// The routes.
  public List<Route> routes() {
    return new PauseRoutes(parts, controls.pauses()).routes();
  }
}
