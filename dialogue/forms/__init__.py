"""What people may enter for an agent, with bounds and sentences for when it is something else."""

from dialogue.forms.knobs import LABELS
from dialogue.forms.small import MODES, AgentForm, BrainForm
from dialogue.forms.tuned import HouseForm, PresenceForm, SettingsForm, Tuned, VoiceForm

__all__ = [
    "LABELS",
    "MODES",
    "AgentForm",
    "BrainForm",
    "HouseForm",
    "PresenceForm",
    "SettingsForm",
    "Tuned",
    "VoiceForm",
]
