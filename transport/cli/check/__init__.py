"""Self-test of one device: `measuring` pushes and looks through an ordinary session, `verdict` judges what was measured."""
