//! What the viewer shows, as JSON: answers of a script, which tests judge too.

use serde_json::{Value, json};
use sinew_io::usd::VariantSet;
use sinew_render::{Camera, JointId};

use super::desk::Desk;
use super::findings::Message;
use super::model::Model;
use super::verify::Verify;

impl Desk {
    /// The pixel of the window that shows a joint.
    fn joint_at(&self, id: JointId) -> Option<[f64; 2]> {
        let position = *self.state.joints.get(id.skeleton)?.get(id.joint)?;
        let [left, top, width, height] = self.state.viewport;
        let (pixel, _) = self.state.camera.project(position, [width, height])?;
        Some([pixel.x + f64::from(left), pixel.y + f64::from(top)])
    }

    /// What the picture at the right shows.
    fn report_beside(&self) -> Option<Value> {
        let beside = self.state.beside.as_ref()?;
        let (camera, _) = self.state.beside_camera()?;
        Some(json!({
            "file": beside.model.path,
            "clip": beside.model.playing(),
            "time": beside.clock.time,
            "range": [beside.clock.start, beside.clock.end],
            "together": beside.together,
            "viewport": self.state.viewport_beside,
            "clip_from_world": self.clip_from_world(&camera),
        }))
    }

    /// Column by column.
    fn clip_from_world(&self, camera: &Camera) -> [f64; 16] {
        let m = camera.matrices(self.state.aspect());
        (m.clip_from_view * m.view_from_world).to_cols_array()
    }

    /// What the window shows, for a script to judge.
    pub fn report(&self) -> Value {
        let state = &self.state;
        let model = state.model.as_ref();
        let chosen = state.look.chosen.and_then(|id| model?.joint(id));
        let difference = state.difference.as_ref();
        let labels = |m: &Model| m.clips.iter().map(|c| c.label.clone()).collect::<Vec<_>>();
        let mut report = json!({
            "file": model.map(|m| &m.path),
            "error": state.error,
            "loading": state.loading[0],
            "loads": self.loads,
            "time": state.clock.time,
            "range": [state.clock.start, state.clock.end],
            "playing": state.clock.playing,
            "speed": state.clock.speed,
            // Pixels from the window's left upper corner: left, top, width, height.
            "viewport": state.viewport,
            "clip_from_world": self.clip_from_world(&state.camera),
            "up_axis": model.map(|m| m.up_axis.to_string()),
            "meters_per_unit": model.map(|m| m.meters_per_unit),
            "points": model.map(|m| m.counts.points),
            "triangles": model.map(|m| m.counts.triangles),
            "clips": model.map(labels),
            "clip": model.and_then(|m| Some(&m.clips.get(m.clip?)?.label)),
            "messages": model.map(|m| {
                let of = |m: &Message| {
                    json!({"severity": m.severity.name(), "code": m.code, "text": m.text})
                };
                m.messages.list().iter().map(of).collect::<Vec<_>>()
            }),
            "variants": model.and_then(|m| m.variant_sets.as_ref()).map(|sets| {
                let set = |s: &VariantSet| {
                    json!({"prim": s.prim, "set": s.name, "variants": s.variants, "selected": s.selected})
                };
                sets.iter().map(set).collect::<Vec<_>>()
            }),
            "match": model.and_then(|m| Some(m.matched.as_ref()?.json())),
            "offer": state.offer.as_ref().map(|o| {
                let choices: Vec<&String> = o.choices.iter().map(|(label, _)| label).collect();
                json!({"text": o.text, "choices": choices})
            }),
            "beside": self.report_beside(),
            "follow": {
                "on": state.follow.on,
                "joint": state.follow.walk.and_then(|w| Some(&model?.joint(w.joint)?.name)),
                "root": state.follow.walk.and_then(|w| self.joint_at(w.joint)),
            },
            "reframed": state.reframed,
            "shapes": model.map(|m| &m.shapes),
            "weights": state.weights,
            "joint": chosen.map(|j| &j.name),
            // Pixel of the window.
            "joint_at": state.look.chosen.and_then(|id| self.joint_at(id)),
            "heat": state.control.heat.is_some(),
            "backend": format!("{:?}", state.control.backend),
            "method": state.control.method,
            "difference": difference.and_then(|d| d.as_ref().ok()),
            "help": state.help,
            "adapter": state.adapter.0,
            "verify": state.verify.as_ref().map(Verify::json),
        });
        if let (Value::Object(all), Value::Object(window)) = (&mut report, self.window_report()) {
            all.extend(window);
        }
        report
    }

    /// The part of the report about the window itself.
    fn window_report(&self) -> Value {
        let state = &self.state;
        let figures = state.stats.figures();
        json!({
            // The lines of the file that the error names.
            "error_lines": state.view.problem.as_ref().and_then(|(_, e)| Some(&e.as_ref()?.text)),
            "notice": state.view.notice,
            "copied": state.view.copied,
            "activity": state.activity().0,
            "places": state.view.places.report(),
            // Medians of the last seconds.
            "frame_seconds": figures.interval,
            "pose_seconds": figures.posing,
            "skin_seconds": figures.skinning,
            "draw_seconds": figures.drawing,
            "timed": [state.stats.source.of_skinning(), state.stats.source.of_drawing()],
        })
    }
}
